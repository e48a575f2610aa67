"""Chapter 3: ``ring_all_reduce_time``, ring time."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
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


TIME = "2 * (ranks - 1) * (latency + message_bytes / (ranks * bandwidth))"


EXERCISE = Build(
    "03 collective_cost.ring_all_reduce_time",
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
        listed("nothing to send", _time_nothings, "One rank moves nothing; zero bytes cost start-ups alone."),
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
    rights=(
        Right(
            "start-ups and bytes apart",
            edit=(TIME, "2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * message_bytes / bandwidth"),
        ),
        Right("the chunk first", edit=(TIME, "(latency + message_bytes / ranks / bandwidth) * (ranks - 1) * 2")),
    ),
    promises=(
        Promise(
            "each of ``ranks - 1`` steps", edit=("2 * (ranks - 1) * (latency", "2 * ranks * (ranks > 1) * (latency")
        ),
    ),
)
