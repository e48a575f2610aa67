"""Chapter 4: ``debug_gbit``, bits and bytes."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip


def wrong_gbit(size_mb, ranks, bandwidth_gbps):
    size_gb = size_mb / 1024
    return 2 * (ranks - 1) / ranks * size_gb / bandwidth_gbps


def _calculated(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(0, 5), rng.randint(2, 512), rng.choice([10, 25, 100, 200, 400, 800])))


def _alone(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(0, 5), 1, rng.choice([10, 100, 400])))


GBIT = "return ring_all_reduce_time(size_mb * MB, ranks, bandwidth_gbps * Gbit)"


EXERCISE = Debug(
    "04 bandwidth.debug_gbit",
    section="4.15",
    topic="bits and bytes",
    bonus=True,
    wrong=wrong_gbit,
    cases=(Case(args=(100, 8, 100)), Case(args=(100, 8, 400)), Case(args=(1000, 8, 100)), Case(args=(100, 64, 100))),
    groups=(
        Group("rings", _calculated, 6, "Turn both into bytes and bytes per second first."),
        Group("one rank", _alone, 2, "A ring of one rank takes no time."),
    ),
    slips=(
        Slip("Gigabits are still taken for gigabytes, and 1024 for 1000.", wrong_gbit),
        Slip(
            "The bits are right now; a megabyte is still 1/1024 of a gigabyte.",
            edit=(
                "ring_all_reduce_time(size_mb * MB, ranks, bandwidth_gbps * Gbit)",
                "2 * (ranks - 1) / ranks * (size_mb / 1024) / (bandwidth_gbps / 8)",
            ),
        ),
        Slip(
            "The sizes are right now; gigabits are still taken for gigabytes.",
            edit=(
                "ring_all_reduce_time(size_mb * MB, ranks, bandwidth_gbps * Gbit)",
                "2 * (ranks - 1) / ranks * (size_mb / 1000) / bandwidth_gbps",
            ),
        ),
        Slip(
            "A megabyte is 10**6 bytes here; 2**20 bytes are a MiB.",
            edit=(
                "ring_all_reduce_time(size_mb * MB, ranks, bandwidth_gbps * Gbit)",
                "2 * (ranks - 1) / ranks * size_mb * 2**20 / (bandwidth_gbps * 1e9 / 8)",
            ),
        ),
    ),
    rights=(
        Right("in bits", edit=(GBIT, "return 2 * (ranks - 1) / ranks * (size_mb * 8e6) / (bandwidth_gbps * 1e9)")),
        Right("in gigabytes", edit=(GBIT, "return (size_mb / 1000) * (2 - 2 / ranks) / (bandwidth_gbps / 8)")),
    ),
)
