"""Chapter 1: ``shard_indices``, sharded data."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip


def _sizes(rng: Random) -> tuple[int, int]:
    """Samples, and ranks that do not divide them; at least four visits for each rank."""
    ranks = rng.randint(3, 17)
    return ranks * rng.randint(4, 11) + rng.randint(1, ranks - 1), ranks


def _padded(rng: Random) -> Case:
    """The last rank, which always visits a repeated sample."""
    samples, ranks = _sizes(rng)
    return Case((samples, ranks, ranks - 1))


def _shuffled(rng: Random, drop_last: bool | None = None) -> Case:
    samples, ranks = _sizes(rng)
    dropped = {"drop_last": rng.random() < 0.3 if drop_last is None else drop_last}
    rank = ranks - 1 if drop_last else rng.randrange(ranks)
    return Case((samples, ranks, rank), {"order": rng.sample(range(samples), samples)} | dropped)


def _dropped(rng: Random) -> Case:
    samples, ranks = _sizes(rng)
    return Case((samples, ranks, rng.randrange(ranks)), {"drop_last": True})


def _dropped_in_places(rng: Random) -> list[Case]:
    """Also the first rank, which loses a sample, and a number of samples that the ranks divide."""
    (samples, ranks), size = _sizes(rng), rng.randint(2, 9)
    return [Case((samples, ranks, 0, None, True)), Case((8 * size, size, size - 1), {"drop_last": True})]


def _few_samples(rng: Random) -> list[Case]:
    """None at all; fewer than ranks, by more than twice for the first two; one rank."""
    few, ranks = rng.randint(1, 3), rng.randint(8, 17)
    return [
        Case((few, ranks, ranks - 1)),
        Case((few + 1, ranks + 3, ranks + 2)),
        Case((few, ranks, rng.randrange(ranks)), {"drop_last": True}),
        Case((0, ranks, rng.randrange(ranks))),
        Case((0, ranks, 0), {"order": [], "drop_last": True}),
        Case((rng.randint(2, 9), 1, 0)),
    ]


EXERCISE = Build(
    "01 sharding.shard_indices",
    section="1.12",
    topic="sharded data",
    bonus=True,
    cases=(
        *(Case((10, 4, rank)) for rank in range(4)),
        Case((10, 4, 3), {"drop_last": True}),
        Case((2, 5, 4)),
        *(Case((6, 4, rank, [5, 3, 1, 0, 4, 2])) for rank in (0, 2)),
    ),
    groups=(
        Group(
            "padded", _padded, 5, "Where the ranks do not divide the samples, the order starts again from its start."
        ),
        Group(
            "shuffled",
            _shuffled,
            6,
            "The order of the epoch may be given; it is the same on every rank.",
            lambda rng: [_shuffled(rng, drop_last) for drop_last in (False, False, True)],
        ),
        Group(
            "dropped",
            _dropped,
            5,
            "With drop_last, every rank visits as many samples as fit into all of them.",
            _dropped_in_places,
        ),
        listed("few samples", _few_samples, "There may be fewer samples than ranks, none at all, or one rank."),
    ),
    slips=(
        Slip(
            "Each rank took a block of neighbors: rank r takes every N-th position from r on.",
            edit=("range(rank, turns * ranks, ranks)", "range(rank * turns, (rank + 1) * turns)"),
        ),
        Slip(
            "The last sample was repeated: the order starts again from its start.",
            edit=("visits[position % samples]", "visits[min(position, samples - 1)]"),
        ),
        Slip(
            "Each rank repeated samples of its own: the order is padded as a whole, then dealt out.",
            edit=(
                "return [visits[position % samples] for position in range(rank, turns * ranks, ranks)]",
                "own = list(visits[rank : turns * ranks : ranks])\n    return own + own[: turns - len(own)]",
            ),
        ),
        Slip(
            "Nothing was padded: ranks visit unequal numbers, and the last collective may hang.",
            edits=(
                ("visits = range(samples)", "visits = list(range(samples))"),
                (
                    "[visits[position % samples] for position in range(rank, turns * ranks, ranks)]",
                    "visits[rank:samples // ranks * ranks if drop_last else samples:ranks]",
                ),
            ),
        ),
        Slip(
            "Each rank shuffled with a seed of its own: samples are lost and doubled.",
            edit=(
                "turns = samples // ranks",
                "import random\n"
                "\n"
                "    visits = list(visits)\n"
                "    random.Random(rank).shuffle(visits)\n"
                "    turns = samples // ranks",
            ),
        ),
        Slip(
            "The order was not used: positions are dealt out, and the order says what is there.",
            edit=("visits[position % samples]", "position % samples"),
        ),
        Slip(
            "drop_last was not used: cut the order to what the ranks divide.",
            edit=("turns * ranks", "-(-samples // ranks) * ranks"),
        ),
        Slip(
            "The order was repeated once: with few samples it has to start again more often.",
            edit=(
                "position in range(rank, turns * ranks, ranks)]",
                "position in range(rank, min(turns * ranks, 2 * samples), ranks)]",
            ),
        ),
    ),
    promises=(
        Promise(
            "Every rank visits the same number of samples",
            edit=("range(rank, turns * ranks, ranks)", "range(rank, min(samples, turns * ranks), ranks)"),
        ),
        Promise(
            "The order is extended from its start",
            edit=("visits[position % samples]", "visits[min(position, samples - 1)]"),
        ),
        Promise(
            "With fewer samples than ranks the order is repeated more than once",
            edit=("visits[position % samples]", "[*visits, *visits][min(position, 2 * samples - 1)]"),
        ),
        Promise("drop the remainder at the end", edit=("samples // ranks if drop_last else ", "")),
    ),
)
