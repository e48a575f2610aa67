"""A ring all-reduce step by step, in the numbers of chapter 3's pictures: what a stepper draws. Standard library only.

>>> ring_states(3)[-1].sums[0]
[60.0, 63.0, 66.0]
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.facts.units import MB
from solutions.ch03.ring_walk import complete_chunk, ring_walk

from .explorers import MESSAGE, starting_blocks

#: Layout of the picture, pixels: margins to the left of the boxes and above, the distance between them, their size.
LEFT, TOP = 46, 40
ACROSS, DOWN = 54, 46
WIDTH, HEIGHT = 48, 32


@dataclass(frozen=True)
class State:
    """What every rank holds after a step.

    Attributes:
        sums: ``[rank][chunk]``, the number in each chunk.
        counts: ``[rank][chunk]``, how many ranks' numbers are in it.
        senders: ``{chunk: rank}``, which rank sent each chunk in this step, to its right neighbour.
    """

    sums: list[list[float]]
    counts: list[list[int]]
    senders: dict[int, int]


def ring_states(ranks: int = 4) -> list[State]:
    """The start and the state after each of the ``2 (N - 1)`` steps: a reduce-scatter, then an all-gather.

    Rank r first sends chunk r - 1, as in :func:`solutions.ch03.collectives.ring_all_reduce`, so that it ends the
    reduce-scatter with the complete sum of chunk r.
    """
    rows = [[*(row or ())] for row in starting_blocks("all_reduce", ranks)]
    history = ring_walk(ranks)
    states = [State(rows, history[0], {})]
    for counts in history[1:]:
        states.append(_added(states[-1], counts))
    for step in range(ranks - 1):
        states.append(_passed_on(states[-1], step))
    return states


def _added(before: State, counts: list[list[int]]) -> State:
    """The state after a step of the reduce-scatter that leaves ``counts``: a chunk whose count grew was just
    received."""
    ranks, sums, senders = len(counts), [row[:] for row in before.sums], {}
    for rank, row in enumerate(counts):
        for chunk, count in enumerate(row):
            if count > before.counts[rank][chunk]:
                senders[chunk] = (rank - 1) % ranks
                sums[rank][chunk] += before.sums[senders[chunk]][chunk]
    return State(sums, counts, senders)


def _passed_on(before: State, step: int) -> State:
    """The state after step ``step`` of the all-gather: every rank passes on what arrived last, at first its own sum."""
    ranks = len(before.sums)
    sums, counts = [row[:] for row in before.sums], [row[:] for row in before.counts]
    senders = {complete_chunk(ranks, (rank - step) % ranks): rank for rank in range(ranks)}
    for chunk, rank in senders.items():
        right = (rank + 1) % ranks
        sums[right][chunk], counts[right][chunk] = before.sums[rank][chunk], before.counts[rank][chunk]
    return State(sums, counts, senders)


def bytes_sent(step: int, ranks: int, message_bytes: float) -> float:
    """Bytes that each rank has sent after ``step`` steps: a chunk in each."""
    return step * message_bytes / ranks


def ring_all_reduce_scene(step: int, ranks: int = 4) -> Scene:
    """The picture after step ``step`` of a ring all-reduce: a row is a rank, a column a chunk, an arrow a message."""
    states = ring_states(ranks)
    state = states[step]
    marks = [*_names(ranks), *_boxes(state), *_messages(state)]
    height = TOP + DOWN * (ranks - 1) + HEIGHT + 42
    sent = bytes_sent(step, ranks, MESSAGE) / MB
    marks.append(Label(4, height - 6, f"sent by each rank so far: {sent:g} MB", "start"))
    return Scene(LEFT + ACROSS * ranks, height, tuple(marks), _says(states, step), _holds(state))


def _corner(rank: int, chunk: int) -> tuple[float, float]:
    return LEFT + ACROSS * chunk, TOP + DOWN * rank


def _names(ranks: int) -> list[Label]:
    """Which row is which rank, and which column which chunk."""
    chunks = [Label(_corner(0, chunk)[0] + WIDTH / 2, 14, f"chunk {chunk}", quiet=True) for chunk in range(ranks)]
    rows = [Label(4, _corner(rank, 0)[1] + 21, f"rank {rank}", "start", quiet=True) for rank in range(ranks)]
    return chunks + rows


def _boxes(state: State) -> list[Box]:
    ranks, boxes = len(state.sums), []
    for rank in range(ranks):
        for chunk in range(ranks):
            count = state.counts[rank][chunk]
            arrived = chunk in state.senders and (state.senders[chunk] + 1) % ranks == rank
            note = "own" if count == 1 else f"{count} of {ranks}" if count < ranks else "complete"
            boxes.append(
                Box(
                    *_corner(rank, chunk),
                    WIDTH,
                    HEIGHT,
                    f"{state.sums[rank][chunk]:g}",
                    note,
                    "right" if count == ranks else "accent",
                    (count - 1) / (ranks - 1) if ranks > 1 else 1.0,
                    arrived,
                )
            )
    return boxes


def _messages(state: State) -> list[Arrow | Label]:
    """An arrow for each message. The one from the last rank to rank 0 leaves below and comes in from above."""
    marks: list[Arrow | Label] = []
    last = len(state.sums) - 1
    for chunk, rank in state.senders.items():
        x, y = _corner(rank, chunk)
        x += WIDTH / 2
        marks.append(Arrow(x, y + HEIGHT + 1, x, y + DOWN - 3))
        if rank == last:
            marks.append(Arrow(x, TOP - 20, x, TOP - 3))
            marks.append(_beside(x, TOP - 12, f"from rank {last}", chunk == last))
            marks.append(_beside(x, y + HEIGHT + 16, "to rank 0", chunk == last))
    return marks


def _beside(x: float, y: float, text: str, left: bool) -> Label:
    """A few words beside an arrow: to the left of it in the last column, where there is no room to the right."""
    return Label(x - 8, y, text, "end", 11) if left else Label(x + 8, y, text, "start", 11)


def _says(states: list[State], step: int) -> str:
    """What happens in the step, with the numbers that move."""
    state, ranks, total = states[step], len(states[0].sums), len(states) - 1
    if step == 0:
        return (
            f"Start. Each of the {ranks} ranks has a tensor of its own, cut into {ranks} chunks; "
            "the first digit says whose numbers they are. Nothing has been sent."
        )
    adds = step < ranks
    news = []
    for chunk, rank in sorted(state.senders.items(), key=lambda item: item[1]):
        right = (rank + 1) % ranks
        before, arrived = states[step - 1].sums[right][chunk], states[step - 1].sums[rank][chunk]
        sums = f"{before:g} + {arrived:g} = " if adds else ""
        news.append(f"{sums}{state.sums[right][chunk]:g} in chunk {chunk} of rank {right}")
    phase, what = ("reduce-scatter", "one chunk") if adds else ("all-gather", "one complete sum")
    then = "adds it to its own" if adds else "keeps it"
    ends = {ranks - 1: " Each rank now has one complete sum.", total: " All ranks now have the same sums."}
    return (
        f"Step {step} of {total}, {phase}. Every rank sends {what} to the next rank, which {then}: "
        f"{', '.join(news)}.{ends.get(step, '')}"
    )


def _holds(state: State) -> str:
    """All numbers of the picture, for readers who cannot see it."""
    rows = [f"rank {rank} holds {', '.join(f'{value:g}' for value in row)}" for rank, row in enumerate(state.sums)]
    return f"{'; '.join(rows).capitalize()}."
