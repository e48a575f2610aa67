"""Drivers of chapter 5: what a comparison of floats cannot see."""

from math import copysign


def rounded(program, value, *form):
    """Called once; if zero is rounded to zero, the answer is that zero's sign, 1.0 or -1.0."""
    answer = program(value, *form)
    return copysign(1.0, answer) if value == 0 and answer == 0 else answer
