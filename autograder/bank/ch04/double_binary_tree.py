"""Chapter 4: ``double_binary_tree``, two trees."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip


def _trees(rng: Random) -> Case:
    return Case(args=(rng.randint(9, 100),))


def _trees_of_each(rng: Random) -> list[Case]:
    """Even and odd numbers between powers of two, and a power of two."""
    return [Case(args=(n,)) for n in (2 * rng.randint(5, 7), 2 * rng.randint(5, 7) + 1, 2 * rng.randint(20, 31), 16)]


def _odd(rng: Random) -> Case:
    return Case(args=(2 * rng.randint(4, 60) + 1,))


def _few_of_each(rng: Random) -> list[Case]:
    return [Case(args=(ranks,)) for ranks in (1, 2, 3, 5)]


EXERCISE = Build(
    "04 all_reduce_algorithms.double_binary_tree",
    section="4.10",
    topic="two trees",
    bonus=True,
    cases=(
        *(Case(args=(ranks,)) for ranks in (1, 2, 4, 6, 7, 8)),
        Case(args=(14,)),  # the example in the library's source
    ),
    groups=(
        Group(
            "many ranks",
            _trees,
            5,
            "A rank's parent follows from its lowest set bit b; it is r - b where (r - b) | 2b is no rank.",
            _trees_of_each,
        ),
        Group("odd numbers", _odd, 3, "With an odd number of ranks the second tree is shifted by one, not mirrored."),
        listed("few ranks", _few_of_each, "One, two, three or five ranks have two trees, too."),
    ),
    slips=(
        Slip(
            "The second tree is the first with another root: inner ranks stay inner in both.",
            edit=(
                "[ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks for rank in range(ranks)]",
                "[{0: ranks - 1, ranks - 1: 0}.get(rank, rank) for rank in range(ranks)]",
            ),
        ),
        Slip(
            "That is the layout of a heap, 2r+1 and 2r+2: shifted by one, most inner ranks are inner again.",
            edits=(
                ("_parent(rank, ranks) for rank", "None if rank == 0 else (rank - 1) // 2 for rank"),
                ("ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks", "(rank + 1) % ranks"),
            ),
        ),
        Slip(
            "An odd number of ranks was mirrored, too: even ranks stay even, and those are the inner ones in both.",
            edit=("ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks", "ranks - 1 - rank"),
        ),
        Slip(
            "A parent lies outside the world: above the last rank, take the lower one, r - b.",
            edits=(
                ("return upper if upper < ranks else rank - bit", "return upper"),
                ("% ranks for rank in range(ranks)]", "% ranks for rank in range(2 * ranks)]"),
            ),
        ),
    ),
    promises=(
        Promise(
            "With odd N > 1 rank 0 alone has children in both, one in each.",
            edit=("ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks", "ranks - 1 - rank"),
        ),
        Promise(
            "or ``r - b`` where that is not a rank",
            edits=(
                ("return upper if upper < ranks else rank - bit", "return upper"),
                (
                    ("renamed = [ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks for rank in range(ranks)]"),
                    (
                        "renamed = [ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks for rank in "
                        "range(2 * ranks)]"
                    ),
                ),
            ),
        ),
    ),
)
