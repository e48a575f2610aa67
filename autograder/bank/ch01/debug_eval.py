"""Chapter 1: ``debug_eval``, sharded data."""

from __future__ import annotations

import math
import statistics
from random import Random

from autograder.bank.groups import listed
from autograder.items import Case, Debug, Group, Promise, Right, Slip


def wrong_eval(scores, ranks):
    samples = len(scores)
    turns = -(-samples // ranks)
    means = []
    for rank in range(ranks):
        visited = [rank + turn * ranks for turn in range(turns)]
        means.append(sum(scores[position % samples] for position in visited) / turns)
    return sum(means) / ranks


def _scores(rng: Random, samples: int, ranks: int) -> Case:
    """The first samples score best, the last ones worst: every share of them has another mean."""
    return Case(([round(rng.uniform(1, 2) * (samples - index), 3) for index in range(samples)], ranks))


def _evaluated(rng: Random) -> Case:
    ranks = rng.randint(3, 9)
    return _scores(rng, ranks * rng.randint(1, 6) + rng.randint(1, ranks - 1), ranks)


def _divided(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 9)
    return [_scores(rng, 5 * ranks, ranks), _scores(rng, rng.randint(2, 9), 1), _scores(rng, ranks, ranks)]


def _few_scores(rng: Random) -> list[Case]:
    ranks = rng.randint(5, 9)
    return [_scores(rng, 1, ranks), _scores(rng, 2, ranks), _scores(rng, ranks - 1, ranks)]


def mean_of_all(scores, ranks):
    return statistics.fmean(scores)


def mean_of_shards(scores, ranks):
    shards = [scores[rank::ranks] for rank in range(ranks)]
    return math.fsum(math.fsum(shard) for shard in shards) / sum(map(len, shards))


EXERCISE = Debug(
    "01 sharding.debug_eval",
    section="1.12",
    topic="sharded data",
    bonus=True,
    wrong=wrong_eval,
    cases=(
        Case(([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 4)),
        Case(([1.0, 0.0, 0.0, 0.0], 2)),
        Case(([1.0, 0.5], 3)),
    ),
    groups=(
        Group("ranks that do not divide", _evaluated, 6, "A sample counts once, however often it is visited."),
        listed("ranks that divide", _divided, "Without padding nothing changes."),
        listed("few samples", _few_scores, "Some ranks may have no sample of their own."),
    ),
    slips=(
        Slip("Samples that were repeated still count twice: leave out positions past the last sample.", wrong_eval),
        Slip(
            "The ranks' means were averaged: their counts differ, so reduce sum and count.",
            edit=("total + sum(own), count + len(own)", "total + sum(own) / max(1, len(own)), count + 1"),
        ),
        Slip(
            "The sum holds each sample once, the count holds the padding too: reduce both alike.",
            edit=("total / count", "total / (-(-samples // ranks) * ranks)"),
        ),
        Slip(
            "Samples at the end were left out: every sample counts.",
            edits=(
                ("-(-samples // ranks)", "len(scores) // ranks"),
                (
                    "return total / count",
                    "return sum(sum(scores[rank:turns * ranks:ranks]) for rank in range(ranks)) / (turns * ranks)",
                ),
            ),
        ),
    ),
    rights=(
        Right("the library's mean", program=mean_of_all),
        Right("exact sums of shards", program=mean_of_shards),
    ),
    promises=(
        Promise(
            "whatever the number of ranks",
            edit=(
                "scores[position] for position in visited if position < samples",
                "scores[position % samples] for position in visited",
            ),
        ),
    ),
)
