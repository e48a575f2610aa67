"""Chapter 5: model states under ZeRO: bytes on one rank, and bytes on the wire."""

from __future__ import annotations

from random import Random

from autograder.bank.ch05.wrong_zero import ZERO_MEMORY
from autograder.bank.ch05.wrong_zero_traffic import ZERO_TRAFFIC
from autograder.items import Build, Case, Group


def _parameters(rng: Random) -> float:
    return float(f"{10 ** rng.uniform(3, 12.3):.4g}")


def _several_ranks(rng: Random) -> int:
    return rng.choice((2, 3, 4, 7, 8, 12, 64, 100, 1000, 1024, 16_384))


def _states(rng: Random, stage: int | None = None) -> Case:
    return Case((_parameters(rng), rng.randrange(4) if stage is None else stage, _several_ranks(rng)))


def _bytes_given(rng: Random, stage: int | None = None) -> Case:
    sizes = [rng.choice((0, 0.5, 1, 2, 4, 6, 8.0)) for _ in range(3)]
    ranks, stage = _several_ranks(rng), rng.randrange(4) if stage is None else stage
    if rng.random() < 0.5:
        return Case((_parameters(rng), stage, ranks, *sizes))
    names = ("optimizer_bytes", "weight_bytes", "gradient_bytes")
    return Case((_parameters(rng), stage), {"ranks": ranks, **dict(zip(names, sizes, strict=True))})


def _one_rank(rng: Random, stage: int | None = None) -> Case:
    return Case((_parameters(rng), rng.randrange(4) if stage is None else stage, 1))


def _few_parameters(rng: Random) -> Case:
    return Case((rng.choice((0, 0.0, 1, 3, 5.0)), rng.randrange(4), rng.choice((3, 7, 1000))))


MEMORY = Build(
    id="05-zero-memory",
    module="zero",
    function="zero_memory",
    grade="call",
    cases=(
        *(Case((7.5e9, stage, 64)) for stage in range(4)),  # the ZeRO paper's first figure: 120, 31.4, 16.6, 1.88 GB
        *(Case((70e9, stage, 8)) for stage in (1, 2, 3)),
        Case((1e12, 3, 1024)),  # the ZeRO paper's table 1: 15.6 GB
        Case((1e9, 3, 7)),
        *(Case((1e9, stage, 3, 2, 4, 12)) for stage in (2, 3)),
        Case((6.7e9, 2, 5, 0.5, 2, 6)),
        Case((8.03e9, 3, 1, 2, 4, 12)),
        Case((0, 2, 8)),
    ),
    groups=(
        Group(
            "stages and ranks",
            _states,
            8,
            "Stages add up, and what a stage slices is divided by the number of ranks.",
            corners=lambda rng: [_states(rng, stage) for stage in (0, 1, 2, 3) * 2],
        ),
        Group(
            "other byte sizes",
            _bytes_given,
            6,
            "The three byte arguments may be given, by position or by name, and may be 0 or fractions.",
            corners=lambda rng: [_bytes_given(rng, stage) for stage in (0, 1, 2, 3)],
        ),
        Group(
            "one rank",
            _one_rank,
            4,
            "With one rank, every stage holds everything.",
            corners=lambda rng: [_one_rank(rng, stage) for stage in range(4)],
        ),
        Group(
            "few parameters",
            _few_parameters,
            6,
            "Nothing is rounded or padded, however few the parameters.",
            corners=lambda rng: [Case((3, stage, 7)) for stage in range(4)] + [Case((0, rng.randrange(4), 8))],
        ),
    ),
    slips=ZERO_MEMORY,
    section="5.6",
    topic="memory of model states",
)


def _sent_bytes(rng: Random, stage: int | None = None) -> Case:
    weight, gradient = rng.choice((1, 2, 0.5)), rng.choice((4, 8.0))
    sizes = {"gradient_bytes": gradient, "weight_bytes": weight}
    return Case(_states(rng, stage).args, sizes)


def _sent_often(rng: Random, stage: int | None = None) -> Case:
    steps = {"micro_steps": rng.randint(2, 64)}
    return Case(_states(rng, stage).args, steps)


def _kept_whole(rng: Random, stage: int = 3) -> Case:
    steps = {"reshard": False, "micro_steps": rng.choice((1, 1, 4, 16))}
    return Case((_parameters(rng), stage, _several_ranks(rng)), steps)


def _nothing_sent(rng: Random) -> Case:
    size, ranks = rng.choice(((_parameters(rng), 1), (0, _several_ranks(rng))))
    return Case((size, rng.randrange(4), ranks), {"micro_steps": rng.choice((1, 8))})


TRAFFIC = Build(
    id="05-zero-traffic",
    module="zero",
    function="zero_traffic",
    grade="call",
    cases=(
        *(Case((7e9, stage, 64)) for stage in range(4)),  # the ZeRO paper, section 7: stage 3 sends half as much more
        Case((70e9, 3, 64)),
        Case((70e9, 3, 64), {"reshard": False}),
        *(Case((7e9, stage, 64), {"micro_steps": 4}) for stage in (1, 2, 3)),
        Case((3.1875e9, 3, 128), {"gradient_bytes": 4, "reshard": False}),
        Case((70e9, 1, 64), {"gradient_bytes": 4}),
        Case((7e9, 2, 1)),
    ),
    groups=(
        Group(
            "stages",
            _states,
            8,
            "Write down each collective of a stage: which tensor does it move, and how often in a step?",
            corners=lambda rng: [_states(rng, stage) for stage in (0, 1, 2, 3) * 2],
        ),
        Group(
            "other byte sizes",
            _sent_bytes,
            6,
            "Weights and gradients may differ in size: which of them does each collective move?",
            corners=lambda rng: [_sent_bytes(rng, stage) for stage in range(4)],
        ),
        Group(
            "several micro-steps",
            _sent_often,
            8,
            "A rank that keeps whole gradients reduces once; one that keeps a slice has to reduce in every micro-step.",
            corners=lambda rng: [_sent_often(rng, stage) for stage in (0, 1, 2, 3) * 2],
        ),
        Group(
            "weights kept for the backward pass",
            _kept_whole,
            6,
            "Without resharding, stage 3 gathers the weights once in a micro-step; other stages do not change.",
            corners=lambda rng: [_kept_whole(rng, stage) for stage in (0, 1, 2, 3)],
        ),
        Group("nothing to send", _nothing_sent, 4, "One rank, or no parameters: nothing is sent."),
    ),
    slips=ZERO_TRAFFIC,
    section="5.13",
    bonus=True,
    topic="traffic of ZeRO",
)

ITEMS = (MEMORY, TRAFFIC)
