"""Chapter 6: ``debug_qkv``, heads of attention."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Slip


def wrong_qkv(hidden, ranks, rank):
    return list(range(rank * 3 * hidden // ranks, (rank + 1) * 3 * hidden // ranks))


def _fused(rng: Random) -> Case:
    ranks = rng.choice((2, 3, 4, 8))
    return Case((ranks * rng.randint(2, 6), ranks, rng.randrange(ranks)))


EXERCISE = Debug(
    "06 heads.debug_qkv",
    section="6.4",
    topic="heads of attention",
    wrong=wrong_qkv,
    cases=(Case((4, 2, 0)), Case((4, 2, 1)), Case((6, 3, 1)), Case((5, 1, 0))),
    groups=(
        Group("several ranks", _fused, 8, "Queries, keys and values are three matrices, one under the other."),
        Group("one rank", lambda rng: Case((rng.randint(1, 9), 1, 0)), 2, "One rank keeps all rows."),
    ),
    slips=(
        Slip("The fused weight was cut as if it were one matrix. Cut each of its three blocks.", wrong_qkv),
        Slip(
            "Rows were dealt out in turn: a rank should keep consecutive rows of each block.",
            edits=(("third * hidden + rank * block", "third * hidden"), ("range(block)", "range(rank, hidden, ranks)")),
        ),
        Slip(
            "The rows of the three blocks were mixed: list them in ascending order.",
            edit=("for third in range(3) for row in range(block)", "for row in range(block) for third in range(3)"),
        ),
        Slip(
            "Only the queries were cut: keys and values have to be split, too.",
            edit=(
                "[third * hidden + rank * block + row for third in range(3) for row in range(block)]",
                "list(range(rank * block, (rank + 1) * block)) + list(range(hidden, 3 * hidden))",
            ),
        ),
    ),
)
