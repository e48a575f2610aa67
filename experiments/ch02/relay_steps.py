"""A relay in chunks step by step: what a stepper draws. Standard library only.

>>> relay_states(ranks=4, chunks=4)[-1].has[3]
[True, True, True, True]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Scene

#: Layout of the picture, pixels: margins, the distance between chunks and between ranks, size of a box.
LEFT, TOP = 50, 24
ACROSS, DOWN = 70, 40
WIDTH, HEIGHT = 62, 20


@dataclass(frozen=True)
class State:
    """What every rank has after a step.

    Attributes:
        has: ``[rank][chunk]``.
        messages: ``(sender, chunk)`` of this step; each goes to the next rank.
    """

    has: list[list[bool]]
    messages: list[tuple[int, int]]


def relay_states(ranks: int = 4, chunks: int = 4) -> list[State]:
    """The start, where rank 0 has everything, and the state after each step, in which a rank passes on one chunk."""
    states = [State([[rank == 0] * chunks for rank in range(ranks)], [])]
    for step in range(ranks - 1 + chunks - 1):
        messages = [(rank, step - rank) for rank in range(ranks - 1) if 0 <= step - rank < chunks]
        has = [row[:] for row in states[-1].has]
        for rank, chunk in messages:
            has[rank + 1][chunk] = True
        states.append(State(has, messages))
    return states


def relay_scene(step: int, ranks: int = 4, chunks: int = 4) -> Scene:
    """The picture after step ``step``: a row is a rank, a column a chunk, an arrow a message."""
    states = relay_states(ranks, chunks)
    state = states[step]
    names = [Label(4, _corner(rank, 0)[1] + 14, f"rank {rank}", "start", quiet=True) for rank in range(ranks)]
    heads = [Label(_corner(0, chunk)[0] + WIDTH / 2, 16, f"chunk {chunk}", quiet=True) for chunk in range(chunks)]
    marks: tuple[Box | Arrow | Label, ...] = (*names, *heads, *_boxes(state), *_arrows(state))
    size = LEFT + ACROSS * chunks, TOP + DOWN * (ranks - 1) + HEIGHT + 8
    return Scene(*size, marks, _says(states, step), _holds(state))


def _corner(rank: int, chunk: int) -> tuple[float, float]:
    return LEFT + ACROSS * chunk, TOP + DOWN * rank


def _boxes(state: State) -> list[Box]:
    return [
        Box(*_corner(rank, chunk), WIDTH, HEIGHT, "", "", "accent", 0.6 * has, (rank - 1, chunk) in state.messages)
        for rank, row in enumerate(state.has)
        for chunk, has in enumerate(row)
    ]


def _arrows(state: State) -> list[Arrow]:
    result = []
    for rank, chunk in state.messages:
        x, y = _corner(rank, chunk)
        result.append(Arrow(x + WIDTH / 2, y + HEIGHT + 1, x + WIDTH / 2, y + DOWN - 3))
    return result


def _says(states: list[State], step: int) -> str:
    state, total = states[step], len(states) - 1
    if step == 0:
        return f"Start. Rank 0 has the tensor, cut into {len(state.has[0])} chunks."
    chunks = [str(chunk) for _, chunk in state.messages]
    sent = f"chunk {chunks[0]} moves" if len(chunks) == 1 else f"chunks {', '.join(chunks[:-1])} and {chunks[-1]} move"
    links, busy = f"{len(chunks)} of {len(state.has) - 1} links", "is busy" if len(chunks) == 1 else "are busy"
    end = " The last rank has everything." if step == total else ""
    return f"Step {step} of {total}: {sent}; {links} {busy}.{end}"


def _holds(state: State) -> str:
    """What every rank has, for readers who cannot see it."""
    rows = [f"rank {rank} has {sum(row)} of {len(row)} chunks" for rank, row in enumerate(state.has)]
    return f"{'; '.join(rows).capitalize()}."
