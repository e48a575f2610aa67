"""Halving-doubling on four ranks, step by step, in the numbers of chapter 3's pictures: what a stepper draws.

The messages are those of :func:`.all_reduce_schedules.halving_doubling_schedule`. Standard library only.

>>> halving_states(4)[-1].sums[0]
[100.0, 104.0, 108.0, 112.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.facts.units import MB
from rankzero.sim.network import Transfer

from ..ch03.explorers import MESSAGE, starting_blocks
from .all_reduce_schedules import halving_doubling_schedule

#: Layout of the picture, pixels: margins to the left of the boxes and above, the distance between them, their size.
LEFT, TOP = 46, 26
ACROSS, DOWN = 54, 46
WIDTH, HEIGHT = 48, 34
#: Room for the arrows to the right of the boxes, and the distance between the two arrows of a pair.
GUTTER, PAIR = 60, 10


@dataclass(frozen=True)
class State:
    """What every rank holds after a step.

    Attributes:
        sums: ``[rank][chunk]``, the number in each chunk; None where the rank has handed the chunk over.
        counts: ``[rank][chunk]``, how many ranks' numbers are in it.
        messages: those of this step.
    """

    sums: list[list[float | None]]
    counts: list[list[int]]
    messages: list[Transfer]


def halving_states(ranks: int = 4) -> list[State]:
    """The start and the state after each step, in which every rank exchanges one message with its partner.

    A rank that hands chunks over to be added keeps no part in them until their sums come back.
    """
    transfers = halving_doubling_schedule(ranks)
    states = [State([[*(row or ())] for row in starting_blocks("all_reduce", ranks)], [[1] * ranks] * ranks, [])]
    for first in range(0, len(transfers), ranks):
        states.append(_moved(states[-1], transfers[first : first + ranks]))
    return states


def _moved(before: State, messages: list[Transfer]) -> State:
    sums, counts = [row[:] for row in before.sums], [row[:] for row in before.counts]
    for message in messages:
        for chunk in message.chunks:
            adds = message.kind == "reduce"
            sums[message.target][chunk] = _sent(before, message, chunk) + (_held(before, message, chunk) if adds else 0)
            counts[message.target][chunk] += before.counts[message.source][chunk]
            if adds:
                sums[message.source][chunk], counts[message.source][chunk] = None, 0
    return State(sums, counts, messages)


def _sent(before: State, message: Transfer, chunk: int) -> float:
    return before.sums[message.source][chunk] or 0.0


def _held(before: State, message: Transfer, chunk: int) -> float:
    return before.sums[message.target][chunk] or 0.0


def bytes_sent(step: int, ranks: int, message_bytes: float) -> float:
    """Bytes that each rank has sent after ``step`` steps: all ranks send alike."""
    first = [len(message.chunks) for state in halving_states(ranks)[1 : step + 1] for message in state.messages[:1]]
    return sum(first) * message_bytes / ranks


def across_the_middle(ranks: int) -> float:
    """Tensors sent from the lower half of the ranks to the upper half in a whole all-reduce."""
    half = ranks // 2
    crossing = (message for message in halving_doubling_schedule(ranks) if message.source < half <= message.target)
    return sum(len(message.chunks) for message in crossing) / ranks


def halving_doubling_scene(step: int, ranks: int = 4) -> Scene:
    """The picture after step ``step``: a row is a rank, a column a chunk, and arrows join the partners of the step."""
    states = halving_states(ranks)
    height = TOP + DOWN * (ranks - 1) + HEIGHT + 30
    width = LEFT + ACROSS * ranks + GUTTER
    sent = bytes_sent(step, ranks, MESSAGE) / MB
    marks = [*_names(ranks), *_boxes(states[step]), *_arrows(states[step])]
    marks.append(Label(4, height - 6, f"sent by each rank so far: {sent:g} MB", "start"))
    return Scene(width, height, tuple(marks), _says(states, step), _holds(states[step]))


def _corner(rank: int, chunk: int) -> tuple[float, float]:
    return LEFT + ACROSS * chunk, TOP + DOWN * rank


def _names(ranks: int) -> list[Label]:
    """Which row is which rank, and which column which chunk."""
    chunks = [Label(_corner(0, chunk)[0] + WIDTH / 2, 14, f"chunk {chunk}", quiet=True) for chunk in range(ranks)]
    return chunks + [Label(4, _corner(rank, 0)[1] + 22, f"rank {rank}", "start", quiet=True) for rank in range(ranks)]


def _boxes(state: State) -> list[Box]:
    ranks, boxes = len(state.sums), []
    arrived = {(message.target, chunk) for message in state.messages for chunk in message.chunks}
    for rank, row in enumerate(state.sums):
        for chunk, value in enumerate(row):
            place, count = _corner(rank, chunk), state.counts[rank][chunk]
            if value is None:
                boxes.append(Box(*place, WIDTH, HEIGHT, ghost=True))
                continue
            note = "own" if count == 1 else f"{count} of {ranks}" if count < ranks else "complete"
            tone, fill = "right" if count == ranks else "accent", (count - 1) / (ranks - 1)
            boxes.append(Box(*place, WIDTH, HEIGHT, f"{value:g}", note, tone, fill, (rank, chunk) in arrived))
    return boxes


def _arrows(state: State) -> list[Arrow]:
    """To the right of the boxes, one arrow for each message: that of a lower rank beside that of its partner."""
    arrows = []
    for message in state.messages:
        low = min(message.source, message.target)
        pair = low % abs(message.source - message.target)
        x = LEFT + ACROSS * len(state.sums) + 8 + 3 * PAIR * pair + (PAIR if message.source > message.target else 0)
        start, end = (_corner(rank, 0)[1] + HEIGHT / 2 for rank in (message.source, message.target))
        arrows.append(Arrow(x, start, x, end))
    return arrows


def _chunks(chunks: tuple[int, ...]) -> str:
    return f"chunk{'s' if len(chunks) > 1 else ''} {' and '.join(map(str, chunks))}"


def _says(states: list[State], step: int) -> str:
    """What happens in the step, with the chunks that move."""
    state, ranks, total = states[step], len(states[0].sums), len(states) - 1
    if step == 0:
        return (
            f"Start. Each of the {ranks} ranks has a tensor of its own, cut into {ranks} chunks; "
            "the first digit says whose numbers they are. Nothing has been sent."
        )
    adds = step <= total // 2
    first = state.messages[0]
    share = "half of the tensor" if 2 * len(first.chunks) == ranks else f"{len(first.chunks)} of its {ranks} chunks"
    phase, then = ("halving", "adds what arrives to the chunks that it keeps") if adds else ("doubling", "keeps both")
    news = ", ".join(f"{_ranks(senders)} {_chunks(chunks)}" for chunks, senders in _senders(state).items())
    kept = min(chunk for message in state.messages if message.target == 0 for chunk in message.chunks)
    before, now = states[step - 1].sums[0][kept], state.sums[0][kept]
    example = f" Rank 0 has {before:g} + {now - before:g} = {now:g} in chunk {kept}." if adds and before and now else ""
    ends = {total // 2: " Each rank now has one complete sum.", total: " All ranks now have the same sums."}
    far = abs(first.source - first.target)
    return (
        f"Step {step} of {total}, {phase}. Every rank sends {share} to the rank {far} away "
        f"and {then}: {news}.{example}{ends.get(step, '')}"
    )


def _senders(state: State) -> dict[tuple[int, ...], list[int]]:
    """The ranks that send, by the chunks that they send."""
    senders: dict[tuple[int, ...], list[int]] = {}
    for message in sorted(state.messages, key=lambda message: message.source):
        senders.setdefault(message.chunks, []).append(message.source)
    return senders


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]} sends" if len(ranks) == 1 else f"ranks {' and '.join(map(str, ranks))} send"


def _holds(state: State) -> str:
    """All numbers of the picture, for readers who cannot see it."""
    rows = [
        f"rank {rank} holds {', '.join('nothing' if value is None else f'{value:g}' for value in row)}"
        for rank, row in enumerate(state.sums)
    ]
    return f"{'; '.join(rows).capitalize()}."
