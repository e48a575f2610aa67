"""Chapter 7: ``one_f_one_b``, the order of 1F1B."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Slip


def _rank_of_many(rng: Random) -> Case:
    ranks = rng.randint(3, 8)
    return Case((rng.randrange(ranks - 1), ranks, rng.randint(ranks + 1, 20)))


def _few(rng: Random) -> list[Case]:
    ranks = rng.randint(5, 8)
    return [Case((rank, ranks, microbatches)) for rank, microbatches in ((0, 1), (0, 2), (1, 2), (ranks - 2, 2))]


def _last(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 8)
    return [Case((ranks - 1, ranks, rng.randint(2, 9))), Case((0, 1, rng.randint(2, 6)))]


EXERCISE = Build(
    "07 pipeline.one_f_one_b",
    section="7.4",
    topic="the order of 1F1B",
    cases=(
        Case((0, 3, 4)),
        Case((2, 3, 4)),
        Case((1, 4, 8)),
        Case((0, 4, 2)),
    ),
    groups=(
        Group(
            "many micro-batches",
            _rank_of_many,
            7,
            "Rank r of p warms up with p - 1 - r forwards, then takes a forward and a backward in turn.",
        ),
        one_of_each("few micro-batches", _few, "With few micro-batches, the warm-up takes all of them and no more."),
        one_of_each("the last rank", _last, "The last rank has no warm-up: each forward is followed by its backward."),
    ),
    slips=(
        Slip(
            "The warm-up is one forward too long, so the rank holds one micro-batch more than it needs to.",
            edit=("min(microbatches, ranks - 1 - rank)", "min(microbatches, ranks - rank)"),
        ),
        Slip(
            "Every rank warms up like rank 0. The closer a rank is to the loss, the fewer forwards it needs.",
            edit=("min(microbatches, ranks - 1 - rank)", "min(microbatches, ranks - 1)"),
        ),
        Slip(
            "That is GPipe: all forwards, then all backwards.",
            edit=("min(microbatches, ranks - 1 - rank)", "microbatches"),
        ),
        Slip(
            "The warm-up is upside down: the last rank, which computes the loss, needs none.",
            edit=("min(microbatches, ranks - 1 - rank)", "min(microbatches, rank)"),
        ),
        Slip(
            "The backwards after the last forward are missing.",
            edit=("return order + list(second[len(first) - warm_up :])", "return order"),
        ),
    ),
)
