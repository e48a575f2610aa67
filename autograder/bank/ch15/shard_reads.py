"""The capstone: ``shard_reads``, a checkpoint on another number of ranks."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip

_ADD = "            reads.append((shard, start - base, stop - base))\n"


def _case(rows: int, saved: int, ranks: int, rank: int) -> Case:
    return Case((rows, saved, ranks, rank))


def _even(rng: Random) -> Case:
    """Shards of one size before and after."""
    saved, ranks = rng.sample((2, 3, 4, 6, 8), 2)
    return _case(24 * rng.randint(1, 4), saved, ranks, rng.randrange(ranks))


def _uneven(rng: Random) -> Case:
    """Rows that neither number of ranks divides, and a rank that has some."""
    while True:
        rows, saved, ranks = rng.randint(13, 90), rng.randint(3, 7), rng.randint(3, 7)
        if saved != ranks and rows % saved and rows % ranks:
            used = -(-rows // -(-rows // ranks))
            return _case(rows, saved, ranks, rng.randrange(1, used))


def _more(rng: Random) -> Case:
    saved = rng.randint(2, 4)
    ranks = saved + rng.randint(1, 4)
    return _case(saved * ranks, saved, ranks, rng.randrange(ranks))


def _row_by_row(rows: int, saved: int, ranks: int, rank: int) -> list[tuple[int, int, int]]:
    def shards(count: int) -> list[list[int]]:
        size = -(-rows // count)
        return [[*range(rows)][place * size : (place + 1) * size] for place in range(count)]

    mine = {*shards(ranks)[rank]}
    kept = [[place for place, row in enumerate(shard) if row in mine] for shard in shards(saved)]
    return [(shard, places[0], places[-1] + 1) for shard, places in enumerate(kept) if places]


EXERCISE = Build(
    "cap checkpointing.shard_reads",
    section="15.25",
    topic="another number of ranks",
    bonus=True,
    cases=(_case(12, 4, 3, 1), _case(12, 4, 2, 0), _case(10, 4, 3, 2), _case(5, 2, 4, 3)),
    groups=(
        Group("even shards", _even, 5, "Find the saved rows that overlap this rank's own."),
        Group("more ranks than before", _more, 4, "A new rank may need a part of one shard, or of two."),
        Group("rows that do not divide", _uneven, 6, "The last shards are shorter, before and after."),
        listed(
            "a rank without rows",
            lambda _: [_case(5, 2, 4, 3), _case(9, 3, 6, 5), _case(4, 4, 7, 6), _case(10, 6, 8, 5)],
            "With more ranks than full shards, the last ranks have no rows and read nothing.",
        ),
    ),
    slips=(
        Slip(
            "Whole shards were kept: only the overlap belongs to this rank.",
            edit=(_ADD, "            reads.append((shard, 0, min(theirs, rows - base)))\n"),
        ),
        Slip(
            "These are rows of the weight: count from the first row of each shard.",
            edit=(_ADD, "            reads.append((shard, start, stop))\n"),
        ),
        Slip(
            "The last row was named instead of the one after it.",
            edit=("stop - base))", "stop - base - 1))"),
        ),
        Slip(
            "Shards that only touch this rank's rows were read as well.",
            edit=("if start < stop:", "if start <= stop:"),
        ),
        Slip(
            "The rank's rows were cut as the saved ones: it has another number of ranks.",
            edit=("mine, theirs = math.ceil(rows / ranks)", "mine, theirs = math.ceil(rows / saved)"),
        ),
        Slip(
            "A rank's shard was rounded down, so that the last rows belong to nobody.",
            edit=("mine, theirs = math.ceil(rows / ranks)", "mine, theirs = max(1, rows // ranks)"),
        ),
    ),
    rights=(
        Right(
            "row by row",
            program=_row_by_row,
        ),
    ),
    promises=(
        Promise("in the order of the shards", edit=("    return reads", "    return reads[::-1]")),
        Promise("whose rows this rank needs", edit=("if start < stop:", "if start <= stop:")),
    ),
)
