"""One message step by step: what a stepper draws. Standard library only.

>>> message_states()[-1].buffer
(3, 1, 4)
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Scene

#: The numbers that are sent, and how many bytes each takes.
NUMBERS, SIZE = (3, 1, 4), 4

#: Layout of the picture, pixels: margins, size of a box, where the second rank begins, where a rank's call stands.
LEFT, TOP = 6, 30
WIDTH, HEIGHT = 34, 34
ACROSS = 206


@dataclass(frozen=True)
class State:
    """The two ranks after a step.

    Attributes:
        buffer: what rank 1's buffer holds.
        calls: the call that each rank is in; empty while it is in none.
        moving: whether the bytes are on their way.
        says: what happened.
    """

    buffer: tuple[int, ...]
    calls: tuple[str, str]
    moving: bool
    says: str


def message_states() -> list[State]:
    """The start, where rank 1 already waits, and the state after each of two steps."""
    size = SIZE * len(NUMBERS)
    empty = (0,) * len(NUMBERS)
    waits = "Start. Rank 1 has called recv with an empty buffer. No message is there yet, so the call does not return."
    sends = f"rank 0 calls send. The two calls match, and {size} bytes are copied into the buffer of rank 1."
    ends = "both calls return. Rank 0 may change its tensor again, and rank 1 may read its buffer."
    return [
        State(empty, ("", "recv(buffer, src=0)"), False, waits),
        State(NUMBERS, ("send(x, dst=1)", "recv(buffer, src=0)"), True, sends),
        State(NUMBERS, ("", ""), False, ends),
    ]


def message_scene(step: int) -> Scene:
    """The picture after step ``step``: rank 0 on the left, rank 1 on the right, the numbers in boxes."""
    states = message_states()
    state = states[step]
    marks: list[Box | Arrow | Label] = []
    for rank, numbers in enumerate((NUMBERS, state.buffer)):
        left = LEFT + ACROSS * rank
        marks.append(Label(left, 18, f"rank {rank}: {('x', 'buffer')[rank]}", "start", quiet=True))
        marks += [
            Box(left + WIDTH * index, TOP, WIDTH, HEIGHT, f"{number}", "", "accent", 0.6 * (number > 0), state.moving)
            for index, number in enumerate(numbers)
        ]
        if state.calls[rank]:
            marks.append(Label(left, TOP + HEIGHT + 20, state.calls[rank], "start"))
    if state.moving:
        marks.append(Arrow(LEFT + 3 * WIDTH + 8, TOP + HEIGHT / 2, LEFT + ACROSS - 8, TOP + HEIGHT / 2))
    says = state.says if step == 0 else f"Step {step} of {len(states) - 1}: {state.says}"
    holds = f"Rank 0 holds {_listed(NUMBERS)}, and the buffer of rank 1 holds {_listed(state.buffer)}."
    return Scene(LEFT + ACROSS + 3 * WIDTH + 22, TOP + HEIGHT + 30, tuple(marks), says, holds)


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))
