"""Drivers of chapter 5: what a comparison of floats does not see."""

# mypy: no-check-untyped-defs

from math import copysign


def rounded(program, value, *form):
    """One call; where a zero stays zero, its sign comes back as 1.0 or -1.0 in its place."""
    answer = program(value, *form)
    return copysign(1.0, answer) if value == 0 and answer == 0 else answer
