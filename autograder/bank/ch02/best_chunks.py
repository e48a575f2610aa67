"""Chapter 2: ``best_chunks``, pipelined relay."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, KB, MB, us


def _ideal(rng: Random, ideal: float, hops: int, limit: int = 4096) -> Case:
    """A relay whose best number of chunks, were it no integer, would be ``ideal``."""
    bandwidth, latency = 10 ** rng.uniform(8, 12), 10 ** rng.uniform(-7, -4)
    size = ideal**2 * latency * bandwidth / (hops - 1)
    return Case(args=(size, hops, bandwidth, latency), kwargs={} if limit == 4096 else {"limit": limit})


def _between_each(rng: Random) -> list[Case]:
    """The better neighbour lies below the ideal, or above it."""
    parts = (rng.uniform(0.15, 0.3), *(rng.uniform(0.7, 0.85) for _ in range(3)))
    return [_ideal(rng, rng.randint(10, 400) + part, rng.randint(2, 5)) for part in parts]


def _close_calls(rng: Random) -> list[Case]:
    """The ideal lies below the middle of two numbers, and the larger one is better all the same."""
    hops = rng.randint(2, 30)
    return [_ideal(rng, (k * (k + 1)) ** 0.5 * 0.4 + (k + 0.5) * 0.6, hops) for k in (1, 1, 2)]


def _tie(rng: Random) -> Case:
    """Two neighbours take the same time, which is exact: everything but the number itself is a power of two."""
    fewer, overlapping = rng.randint(2, 60), 2 ** rng.randint(0, 3)
    latency, bandwidth = 2.0 ** -rng.randint(14, 20), 2.0 ** rng.randint(28, 38)
    return Case(args=(fewer * (fewer + 1) * latency * bandwidth / overlapping, overlapping + 1, bandwidth, latency))


def _small_message(rng: Random) -> Case:
    return _ideal(rng, rng.uniform(0.05, 0.95), rng.randint(2, 30))


def _limited(rng: Random) -> Case:
    limit = rng.randint(2, 100)
    return _ideal(rng, limit * rng.uniform(1.5, 5), rng.randint(2, 30), limit)


def _no_latencies(rng: Random) -> list[Case]:
    size, bandwidth = 10 ** rng.uniform(6, 9), 10 ** rng.uniform(8, 12)
    return [
        Case(args=(size, rng.randint(2, 9), bandwidth, 0.0)),
        Case(args=(size, rng.randint(2, 9), bandwidth, 0.0, rng.randint(2, 99))),
    ]


def _nothing_overlaps(rng: Random) -> list[Case]:
    """No hops, one hop, no bytes; with latency and without."""
    size = 10 ** rng.uniform(8, 11)
    return [Case(args=(m, h, 50 * GB, a)) for m, h in ((size, 0), (size, 1), (0.0, 3)) for a in (5 * us, 0.0)]


def in_fractions(message_bytes, hops, bandwidth, latency, limit=4096):
    """The least k with k (k + 1) not below the square of the ideal, in whole numbers."""
    if hops <= 1 or message_bytes == 0:
        return 1
    if latency == 0:
        return limit
    square = (hops - 1) * Fraction(message_bytes) / Fraction(bandwidth) / Fraction(latency)
    below = min(math.isqrt(math.floor(square)), limit)
    return min(limit, max(1, below if below * (below + 1) >= square else below + 1))


BEST = "return min(near, key=lambda chunks: relay_time(message_bytes, hops, chunks, bandwidth, latency))"


EXERCISE = Build(
    "02 alpha_beta.best_chunks",
    section="2.14",
    topic="pipelined relay",
    bonus=True,
    cases=(
        Case(args=(64 * MB, 3, 50 * GB, 5 * us)),
        Case(args=(1 * MB, 7, 50 * GB, 5 * us)),
        Case(args=(1 * GB, 15, 50 * GB, 5 * us)),
        Case(args=(10 * KB, 3, 50 * GB, 5 * us)),
        Case(args=(64 * MB, 3, 50 * GB, 0.0)),
    ),
    groups=(
        listed("between two numbers", _between_each, "Compare the times of both neighbors of the ideal."),
        listed("close calls", _close_calls, "Compare times: the nearest integer is not always best."),
        Group("ties", _tie, 3, "When two numbers of chunks take the same time, the smaller one counts."),
        Group("small messages", _small_message, 3, "A small message is not worth cutting: one chunk."),
        Group("limit", _limited, 3, "The number may not exceed the limit."),
        listed("no latency", _no_latencies, "Without latency, as many chunks as are allowed are best."),
        listed(
            "nothing to overlap",
            _nothing_overlaps,
            "With one hop, none, or no bytes, more chunks never help: one chunk, whatever rounding says.",
        ),
    ),
    slips=(
        Slip(
            "The ideal was rounded down: its upper neighbor may be faster.",
            edit=(
                "min(near, key=lambda chunks: relay_time(message_bytes, hops, chunks, bandwidth, latency))",
                "min(max(int(((hops - 1) * message_bytes / (latency * bandwidth)) ** 0.5), 1), limit)",
            ),
        ),
        Slip(
            "The ideal was rounded: compare the times of its two neighbors.",
            edit=(
                "min(near, key=lambda chunks: relay_time(message_bytes, hops, chunks, bandwidth, latency))",
                "min(max(round(((hops - 1) * message_bytes / (latency * bandwidth)) ** 0.5), 1), limit)",
            ),
        ),
        Slip(
            "Of two numbers that take the same time the larger was taken: the smaller counts.",
            edit=("near = (below, min(below + 1, limit))", "near = (min(below + 1, limit), below)"),
        ),
        Slip(
            "Chunks shorten all hops but one: under the root it is hops - 1.",
            edits=(
                ("hops <= 1 or", "hops == 0 or"),
                ("math.sqrt((hops - 1) * transfer / latency)", "math.sqrt(hops * transfer / latency)"),
                (
                    "relay_time(message_bytes, hops, chunks, bandwidth, latency))",
                    "relay_time(message_bytes, hops + 1, chunks, bandwidth, latency))",
                ),
            ),
        ),
        Slip(
            "No chunks at all: there is at least one.",
            edits=(
                ("        return 1\n", "        return 0\n"),
                ("max(ideal, 1)", "ideal"),
                (
                    "key=lambda chunks: relay_time(message_bytes, hops, chunks, bandwidth, latency)",
                    (
                        "key=lambda chunks: relay_time(message_bytes, hops, chunks, bandwidth, latency) if "
                        "chunks else 0.0"
                    ),
                ),
            ),
        ),
        Slip(
            "The limit was ignored.",
            edits=(("min(max(ideal, 1), limit)", "max(ideal, 1)"), ("min(below + 1, limit)", "below + 1")),
        ),
        Slip(
            "Without latency the formula divides by zero: the limit is best there.",
            edit=("    if latency == 0:\n        return limit\n", ""),
        ),
    ),
    rights=(
        Right("in whole numbers", program=in_fractions),
        Right(
            "all numbers tried",
            edit=(BEST, BEST.replace("(near,", "(range(1, min(limit, 4 * near[1]) + 1),")),
        ),
        Right(
            "the bytes multiplied out",
            edit=(BEST, "return min(near, key=lambda k: k * latency + (hops - 1) * message_bytes / (k * bandwidth))"),
        ),
    ),
    promises=(
        Promise(
            "the smaller one when two are equal",
            edit=("near = (below, min(below + 1, limit))", "near = (min(below + 1, limit), below)"),
        ),
        Promise("Nothing to send needs one chunk.", edit=("if hops <= 1 or transfer == 0:", "if hops <= 1:")),
        Promise(
            "With 1 or none, nothing overlaps: one chunk",
            edits=(
                ("    if hops <= 1 or transfer == 0:", "    if transfer == 0:"),
                ("    ideal = math.sqrt((hops - 1)", "    ideal = math.sqrt(hops"),
            ),
        ),
        Promise(
            "Without it, more is always better.", edit=("        return limit\n", "        return min(limit, 4095)\n")
        ),
        Promise(
            "A number from 1 to ``limit``.", edit=("near = (below, min(below + 1, limit))", "near = (below, below + 1)")
        ),
    ),
)
