"""Chapter 03: the time of a ring, a build item, and the same formula to debug."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Debug, Group, Slip
from rankzero.facts.units import GB, MB, Gbit, us


def _time(rng: Random) -> Case:
    size, ranks = 10 ** rng.uniform(5, 12), rng.randint(2, 16384)
    return Case(args=(size, ranks, 10 ** rng.uniform(8, 12), 10 ** rng.uniform(-7, -4)))


def _time_plain(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 12), rng.randint(2, 1024), 10 ** rng.uniform(8, 12)))


def _time_nothings(rng: Random) -> list[Case]:
    """One rank, zero bytes, or both."""
    alone = [Case(args=(size, 1, 50 * GB, 5 * us)) for size in (0.0, 1 * GB)]
    return [*alone, *(Case(args=(0.0, rng.randint(2, 64), 50 * GB, 10 ** rng.uniform(-7, -4))) for _ in range(2))]


RING_ALL_REDUCE_TIME = Build(
    id="03-ring-all-reduce-time",
    module="collective_cost",
    function="ring_all_reduce_time",
    grade="call",
    section="3.8",
    topic="ring time",
    cases=(
        Case(args=(2 * GB, 8, 50 * GB)),
        Case(args=(2 * GB, 8, 50 * GB), kwargs={"latency": 5 * us}),
        Case(args=(2 * GB, 8, 25 * GB)),
        Case(args=(1 * GB, 8, 450 * GB)),  # the ideal of a node with eight H100
        Case(args=(1 * MB, 1024, 50 * GB, 5 * us)),
        Case(args=(14 * GB, 64, 50 * GB)),
        Case(args=(100 * MB, 8, 100 * Gbit)),
    ),
    groups=(
        Group("with latency", _time, 6, "Every step has a latency and moves one chunk."),
        Group("without latency", _time_plain, 4, "The latency may be left out: it is 0 then."),
        listed("nothing to send", _time_nothings, "One rank moves nothing, and zero bytes move nothing."),
    ),
    slips=(
        Slip("Both trips were counted twice: 2(N-1) steps already hold both.", edit=("return 2", "return 2 * 2")),
        Slip(
            "The latency was counted once, but each of the 2(N-1) steps pays it.",
            edit=(
                "2 * (ranks - 1) * (latency + message_bytes / (ranks * bandwidth))",
                "(latency if ranks > 1 else 0.0) + 2 * (ranks - 1) * message_bytes / (ranks * bandwidth)",
            ),
        ),
        Slip(
            "Each step moved the whole tensor: the ring sends one chunk, S/N, at a time.",
            edit=("ranks * bandwidth", "bandwidth"),
        ),
        Slip(
            "Both directions of the link were added up: a rank of the ring sends in one.",
            edit=("ranks * bandwidth", "ranks * 2 * bandwidth"),
        ),
        Slip(
            "The bandwidth was multiplied by 8: it is in bytes per second already.",
            edit=("ranks * bandwidth", "ranks * 8 * bandwidth"),
        ),
        Slip(
            "2 S/B is the limit for many ranks: each of 2(N-1) steps moves S/N.",
            edit=(
                "2 * (ranks - 1) * (latency + message_bytes / (ranks * bandwidth))",
                "2 * (ranks - 1) * latency + (2 * message_bytes / bandwidth if ranks > 1 else 0.0)",
            ),
        ),
    ),
)


def wrong_double(message_bytes, ranks, bandwidth):
    steps = 2 * (ranks - 1)
    return 2 * steps * (message_bytes / ranks) / bandwidth


def _double(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 12), rng.randint(2, 1024), 10 ** rng.uniform(8, 12)))


def _double_alone(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 12), 1, 10 ** rng.uniform(8, 12)))


DEBUG_DOUBLE = Debug(
    id="03-debug-double",
    module="collective_cost",
    function="debug_double",
    grade="call",
    section="3.15",
    bonus=True,
    topic="ring time",
    cases=(Case(args=(2 * GB, 8, 50 * GB)), Case(args=(1 * GB, 8, 450 * GB)), Case(args=(14 * GB, 64, 50 * GB))),
    groups=(
        Group("rings", _double, 6, "Count the steps, and the bytes of a step."),
        Group("one rank", _double_alone, 2, "A ring of one rank takes no time."),
    ),
    slips=(
        Slip("Both trips are still counted twice: `steps` already holds the factor 2.", wrong_double),
        Slip(
            "The tensor was divided by the number of ranks twice.",
            edit=("steps * (message_bytes / ranks)", "steps * (message_bytes / ranks) / ranks"),
        ),
    ),
    wrong=wrong_double,
)

ITEMS = (RING_ALL_REDUCE_TIME, DEBUG_DOUBLE)
