"""A binomial tree's all-reduce step by step: what a stepper draws. Standard library only.

>>> tree_states(4)[-1].sums
[100.0, 100.0, 100.0, 100.0]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.explore.scene import Tone

#: Layout of the picture, pixels: margins, the distance between ranks and between the rows of the tree, size of a box.
LEFT, TOP = 6, 26
ACROSS, DOWN = 41, 78
WIDTH, HEIGHT = 38, 38


@dataclass(frozen=True)
class State:
    """What every rank holds after a step.

    Attributes:
        sums: by rank.
        counts: by rank, how many ranks' numbers are in its sum.
        messages: ``(sender, receiver)`` of this step.
    """

    sums: list[float]
    counts: list[int]
    messages: list[tuple[int, int]]


def start(ranks: int) -> list[float]:
    """The number of each rank: its first digits say whose it is."""
    return [10.0 * (rank + 1) for rank in range(ranks)]


def rounds(ranks: int) -> list[list[tuple[int, int]]]:
    """``(child, parent)`` of the pairs of each round on the way up: in round k, distance 2^k.

    >>> rounds(4)
    [[(1, 0), (3, 2)], [(2, 0)]]
    """
    bits = [1 << index for index in range((ranks - 1).bit_length())]
    return [[(rank, rank - bit) for rank in range(bit, ranks, 2 * bit)] for bit in bits]


def tree_states(ranks: int = 8) -> list[State]:
    """The start and the state after each step: a reduce to rank 0, then a broadcast along the same tree."""
    up = rounds(ranks)
    states = [State(start(ranks), [1] * ranks, [])]
    for pairs in up:
        states.append(_moved(states[-1], pairs, adds=True))
    for pairs in reversed(up):
        states.append(_moved(states[-1], [(parent, child) for child, parent in pairs], adds=False))
    return states


def _moved(before: State, messages: list[tuple[int, int]], adds: bool) -> State:
    """The state after each sender's sum has been added to its receiver's, or has taken its place."""
    sums, counts = before.sums[:], before.counts[:]
    for sender, receiver in messages:
        sums[receiver] = before.sums[sender] + (sums[receiver] if adds else 0)
        counts[receiver] = before.counts[sender] + (counts[receiver] if adds else 0)
    return State(sums, counts, messages)


def tree_all_reduce_scene(step: int, ranks: int = 8) -> Scene:
    """The picture after step ``step``: rank 0 at the top, every other rank one row below its parent."""
    states = tree_states(ranks)
    state = states[step]
    arrows = [_arrow(sender, receiver) for sender, receiver in state.messages]
    lines = [
        Label(x, y - 6, f"rank {rank}", "start", 11, True) for rank, (x, y) in enumerate(map(_corner, range(ranks)))
    ]
    depth = max(_row(rank) for rank in range(ranks))
    marks: tuple[Box | Arrow | Label, ...] = (*lines, *(_box(state, rank) for rank in range(ranks)), *arrows)
    width, height = LEFT + ACROSS * ranks, TOP + DOWN * depth + HEIGHT + 12
    return Scene(width, height, marks, _says(states, step), _holds(state))


def _row(rank: int) -> int:
    """How far a rank is from the root: one step for each bit that is set."""
    return rank.bit_count()


def _corner(rank: int) -> tuple[float, float]:
    return LEFT + ACROSS * rank, TOP + DOWN * _row(rank)


def _box(state: State, rank: int) -> Box:
    ranks, count = len(state.sums), state.counts[rank]
    note = "own" if count == 1 else f"{count} of {ranks}"
    arrived = any(receiver == rank for _, receiver in state.messages)
    tone: Tone = "right" if count == ranks else "accent"
    fill = (count - 1) / max(ranks - 1, 1)
    return Box(*_corner(rank), WIDTH, HEIGHT, f"{state.sums[rank]:g}", note, tone, fill, arrived)


def _arrow(sender: int, receiver: int) -> Arrow:
    """From the edge of one box to that of the other: up from a child, down from a parent."""
    (x, y), (to_x, to_y) = _corner(sender), _corner(receiver)
    up = to_y < y
    start_y, end_y = (y - 18, to_y + HEIGHT + 3) if up else (y + HEIGHT + 1, to_y - 20)
    return Arrow(x + WIDTH / 2, start_y, to_x + WIDTH / 2, end_y)


def _says(states: list[State], step: int) -> str:
    """What happens in the step, with the numbers that move."""
    state, ranks, total = states[step], len(states[0].sums), len(states) - 1
    if step == 0:
        return f"Start. Each of the {ranks} ranks has one number. Rank 0 is at the top, every other below its parent."
    before, adds = states[step - 1], step <= total // 2
    news = [
        f"rank {receiver} has {before.sums[receiver]:g} + {before.sums[sender]:g} = {state.sums[receiver]:g}"
        if adds
        else f"rank {receiver} has {state.sums[receiver]:g} from rank {sender}"
        for sender, receiver in state.messages
    ]
    what = "up: a child sends its sum to its parent, which adds it" if adds else "down: a parent passes on the total"
    ends = {total // 2: " Rank 0 has the total.", total: " All ranks have it."}
    return f"Step {step} of {total}, {what}. Now {', '.join(news)}.{ends.get(step, '')}"


def _holds(state: State) -> str:
    """All numbers of the picture, for readers who cannot see it."""
    return f"{'; '.join(f'rank {rank} holds {value:g}' for rank, value in enumerate(state.sums)).capitalize()}."
