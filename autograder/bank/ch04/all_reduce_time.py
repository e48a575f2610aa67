"""Chapter 4: ``all_reduce_time``, all-reduce algorithms."""

from __future__ import annotations

from random import Random

from autograder.bank.ch04.shared import NAMES, link, uneven
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, MB, TB, us


def _time(rng: Random) -> Case:
    return Case(args=(rng.choice(NAMES[:3]), 10 ** rng.uniform(4, 12), rng.randint(2, 32768), *link(rng)))


def _times(rng: Random) -> list[Case]:
    """Each algorithm that takes any number of ranks, twice, on a number that is not a power of two."""
    names = [name for name in NAMES[:3] for _ in range(2)]
    return [Case(args=(name, 10 ** rng.uniform(6, 12), uneven(rng), *link(rng))) for name in names]


def _power(rng: Random) -> Case:
    ranks = 2 ** rng.randint(1, 15)
    return Case(args=(rng.choice(NAMES), 10 ** rng.uniform(4, 12), ranks, *link(rng)))


def _powers(rng: Random) -> list[Case]:
    """Each algorithm, and the double tree on two ranks."""
    ranks = [*((name, 2 ** rng.randint(3, 15)) for name in NAMES), ("double_tree", 2)]
    return [Case(args=(name, 10 ** rng.uniform(4, 12), number, *link(rng))) for name, number in ranks]


def _nothing(rng: Random) -> Case:
    """One rank, or zero bytes."""
    return Case(args=(rng.choice(NAMES), *rng.choice([(1 * GB, 1), (0.0, 8)]), *link(rng)))


def _nothings(rng: Random) -> list[Case]:
    return [Case(args=(name, rng.choice([0.0, 1 * TB]), 1, *link(rng))) for name in NAMES]


DOUBLE_TREE = "return 2 * levels * latency + (2 * message_bytes / bandwidth if ranks > 1 else 0.0)"
HALVING = "return 2 * levels * latency + 2 * (ranks - 1) / ranks * message_bytes / bandwidth"
RING = "return ring_all_reduce_time(message_bytes, ranks, bandwidth, latency)"
TREE = "return 2 * levels * (latency + message_bytes / bandwidth)"


EXERCISE = Build(
    "04 all_reduce_algorithms.all_reduce_time",
    section="4.4",
    topic="all-reduce algorithms",
    cases=(
        *(Case(args=(name, 4 * GB, 8, 50 * GB, 5 * us)) for name in NAMES),
        *(Case(args=(name, 1 * MB, 1024, 50 * GB, 5 * us)) for name in ("ring", "double_tree")),
        Case(args=("tree", 1 * MB, 6, 12.5 * GB, 10 * us)),
        Case(args=("double_tree", 1 * GB, 1, 50 * GB, 5 * us)),
    ),
    groups=(
        Group(
            "rings and trees", _time, 9, "The number of ranks need not be a power of two: round the levels up.", _times
        ),
        Group("powers of two", _power, 6, "All four algorithms take a power of two.", _powers),
        Group("nothing to send", _nothing, 5, "One rank moves nothing; zero bytes cost start-ups alone.", _nothings),
    ),
    slips=(
        Slip(
            "The levels were rounded down: 6 ranks need three levels, not two.",
            edit=("(ranks - 1).bit_length()", "ranks.bit_length() - 1"),
        ),
        Slip(
            "Only one way was counted: an all-reduce goes up and down again.",
            edits=(
                ("return ring_all", "return 0.5 * ring_all"),
                ("return 2 * levels * (latency", "return levels * (latency"),
                ("2 * levels * latency + (2 * message", "levels * latency + (message"),
                ("2 * levels * latency + 2 * (ranks", "levels * latency + (ranks"),
            ),
        ),
        Slip(
            "The plain tree waits for the whole message on every level: its bytes count once per level.",
            edit=(
                "2 * levels * (latency + message_bytes / bandwidth)",
                "2 * levels * latency + (2 * message_bytes / bandwidth if ranks > 1 else 0.0)",
            ),
        ),
        Slip(
            "The latency was counted once: every step or level starts up.",
            edits=(
                (
                    "levels = (ranks - 1).bit_length()",
                    "if ranks == 1:\n        return 0.0\n    levels = (ranks - 1).bit_length()",
                ),
                (
                    "ring_all_reduce_time(message_bytes, ranks, bandwidth, latency)",
                    "latency + ring_all_reduce_time(message_bytes, ranks, bandwidth)",
                ),
                (
                    "2 * levels * (latency + message_bytes / bandwidth)",
                    "latency + 2 * levels * message_bytes / bandwidth",
                ),
                ("2 * levels * latency + (2", "latency + (2"),
                ("2 * levels * latency + 2 * (ranks", "latency + 2 * (ranks"),
            ),
        ),
        Slip(
            "The double tree was halved twice. Two trees carry half each, both up and down, which makes 2 S/B.",
            edit=("(2 * message_bytes / bandwidth if", "(message_bytes / bandwidth if"),
        ),
    ),
    rights=(
        Right(
            "step by step",
            edits=(
                (RING, "return 2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * message_bytes / bandwidth"),
                (TREE, "return levels * (2 * latency) + levels * (2 * message_bytes) / bandwidth"),
                (DOUBLE_TREE, "return 2 * (levels * latency + min(levels, 1) * message_bytes / bandwidth)"),
                (
                    HALVING,
                    "return 2 * sum(latency + message_bytes / 2 ** (k + 1) / bandwidth for k in range(levels))",
                ),
            ),
        ),
        Right(
            "levels by the logarithm of the library",
            edits=(
                ("levels = (ranks - 1).bit_length()", "from math import ceil, log2\n\n    levels = ceil(log2(ranks))"),
                (HALVING, "return 2 * (levels * latency + (message_bytes - message_bytes / ranks) / bandwidth)"),
            ),
        ),
    ),
    promises=(
        Promise(
            "one rank has nothing to send: 0 s",
            edit=("(2 * message_bytes / bandwidth if ranks > 1 else 0.0)", "2 * message_bytes / bandwidth"),
        ),
        Promise(
            "d the least integer with 2**d >= N",
            edit=("levels = (ranks - 1).bit_length()", "levels = ranks.bit_length()"),
        ),
    ),
)
