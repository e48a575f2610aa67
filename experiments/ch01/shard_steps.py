"""Ten samples dealt out to four ranks, step by step: what a stepper draws. Standard library only.

>>> dealt()[-1]
[[7, 0, 8], [2, 4, 6], [9, 1, 7], [5, 3, 2]]
"""

from __future__ import annotations

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Tone
from solutions.ch01.sharding import shard_indices

#: The order of one epoch, and how many ranks share it.
ORDER = (7, 2, 9, 5, 0, 4, 1, 3, 8, 6)
RANKS = 4
CELL, HIGH, LEFT = 21, 20, 38
#: Sizes of text: in boxes, and beside them.
TEXT, SMALL = 11, 10
#: Turns that have been dealt in each picture.
TURNS = (0, 0, 1, 3)


def padded(order: tuple[int, ...] = ORDER, ranks: int = RANKS) -> list[int]:
    """The order, repeated from its start until the ranks divide its length."""
    return [order[place % len(order)] for place in range(len(order) + -len(order) % ranks)]


def dealt(order: tuple[int, ...] = ORDER, ranks: int = RANKS) -> list[list[list[int]]]:
    """What each rank has after each turn, in which every rank takes the next sample of the padded order."""
    shares = [shard_indices(len(order), ranks, rank, order=order) for rank in range(ranks)]
    return [[share[:turn] for share in shares] for turn in range(len(shares[0]) + 1)]


def shard_scene(step: int) -> Scene:
    """The order; the padded order; the first turn of the dealing; all of it. Below the order are the ranks' shares."""
    turn = TURNS[step]
    order = padded() if step else [*ORDER]
    marks: list[Box | Label] = [Label(4, 11, "the order of this epoch", "start", SMALL, True)]
    for index, sample in enumerate(order):
        tone: Tone = "right" if index >= len(ORDER) else "accent"
        taken = index < turn * RANKS
        marks.append(Box(4 + CELL * index, 16, CELL - 2, HIGH, f"{sample}", "", tone, 0.6 * (not taken), False, TEXT))
    for rank, share in enumerate(dealt()[turn]):
        y = 46 + 23 * rank
        marks.append(Label(4, y + 14, f"rank {rank}", "start", SMALL, True))
        for index, sample in enumerate(share):
            tone = "right" if index * RANKS + rank >= len(ORDER) else "accent"
            marks.append(Box(LEFT + 26 * index, y, 23, HIGH, f"{sample}", "", tone, 0.6, False, TEXT))
    return Scene(8 + CELL * len(padded()), 46 + 23 * RANKS + 2, tuple(marks), _says(step), _alt(step))


def _says(step: int) -> str:
    more = len(padded()) - len(ORDER)
    if step == 0:
        return (
            f"1. Shuffle. Every rank draws the same order of the {len(ORDER)} samples, because all use the same seed."
        )
    if step == 1:
        return f"2. Pad. {RANKS} does not divide {len(ORDER)}, so the first {more} samples are repeated at the end."
    if step == 2:
        news = ", ".join(f"rank {rank} takes {sample}" for rank, sample in enumerate(padded()[:RANKS]))
        return f"3. Deal. In the first turn {news}."
    twice = " and ".join(map(str, ORDER[:more]))
    return f"After {TURNS[step]} turns all are dealt out, {len(dealt()[-1][0])} to each; samples {twice} came up twice."


def _alt(step: int) -> str:
    shares = dealt()[TURNS[step]]
    rows = "; ".join(f"rank {rank} has {share or 'nothing'}" for rank, share in enumerate(shares))
    return f"Order {padded() if step else [*ORDER]}; {rows}."
