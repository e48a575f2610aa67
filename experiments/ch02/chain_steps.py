"""A number that passes down a chain of ranks, step by step: what a stepper draws. Standard library only.

>>> chain_states(42, 10, 4)[-1]
[42, 52, 62, 72]
"""

from __future__ import annotations

from rankzero.explore import Arrow, Box, Label, Scene

#: Layout of the picture, pixels: margins, size of a box, the distance between ranks.
LEFT, TOP = 6, 24
WIDTH, HEIGHT, ACROSS = 52, 30, 88


def chain_states(start: int = 42, increment: int = 10, ranks: int = 4) -> list[list[int | None]]:
    """What each rank holds at the start and after each step, in which the number passes one hop; None for nothing."""
    states: list[list[int | None]] = [[start, *[None] * (ranks - 1)]]
    for rank in range(1, ranks):
        held = list(states[-1])
        held[rank] = start + increment * rank
        states.append(held)
    return states


def chain_scene(step: int, start: int = 42, increment: int = 10, ranks: int = 4) -> Scene:
    """The picture after step ``step``: a box is a rank with the number that it holds, the arrow this step's message."""
    states = chain_states(start, increment, ranks)
    marks = [mark for rank, number in enumerate(states[step]) for mark in _rank(rank, number)]
    if step:
        tail, middle = LEFT + ACROSS * (step - 1) + WIDTH, TOP + HEIGHT / 2
        marks.append(Arrow(tail + 4, middle, tail + ACROSS - WIDTH - 4, middle))
    size = LEFT + ACROSS * (ranks - 1) + WIDTH + 12, TOP + HEIGHT + 18
    return Scene(*size, tuple(marks), _says(states, step), _holds(states[step]))


def _rank(rank: int, number: int | None) -> list[Box | Arrow | Label]:
    """A rank: its name, a box with what it holds, and a note while it waits."""
    left = LEFT + ACROSS * rank
    middle, waits = left + WIDTH / 2, number is None
    box = Box(left, TOP, WIDTH, HEIGHT, "" if waits else f"{number}", "", "accent", 0.0 if waits else 0.6)
    note = [Label(middle, TOP + HEIGHT + 13, "waits in recv", size=10)] if waits else []
    return [Label(middle, 16, f"rank {rank}", quiet=True), box, *note]


def _says(states: list[list[int | None]], step: int) -> str:
    held, last = states[step], len(states) - 1
    if step == 0:
        return f"Start. Rank 0 holds {held[0]}. All others have called recv, and wait."
    sent, kept = held[step - 1] or 0, held[step] or 0
    end = " It has nobody to pass it on to." if step == last else ""
    return f"Step {step} of {last}: rank {step - 1} sends {sent}. Rank {step} adds {kept - sent} and keeps {kept}.{end}"


def _holds(held: list[int | None]) -> str:
    """What every rank holds, for readers who cannot see it."""
    rows = [f"rank {rank} {'waits' if number is None else f'holds {number}'}" for rank, number in enumerate(held)]
    return f"{'; '.join(rows).capitalize()}."
