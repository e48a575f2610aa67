"""Chapter 14: ``chain_broadcast_time``, broadcast of weights."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, us


def _size(rng: Random) -> float:
    return rng.choice((rng.randint(1, 2000) * GB, rng.uniform(1e6, 1e12)))


def _chain(rng: Random) -> Case:
    link = (rng.choice((7, 25, 50, 400)) * GB, rng.uniform(1, 50) * us)
    return Case((_size(rng), rng.randint(3, 64), *link, rng.randint(2, 64)))


def _many_chunks(rng: Random) -> Case:
    return Case((_size(rng), rng.randint(2, 64), 50 * GB, rng.uniform(1, 50) * us, rng.randint(1000, 10_000)))


def _short_chains(rng: Random) -> list[Case]:
    size, link = _size(rng), (50 * GB, rng.uniform(1, 50) * us)
    nobody = [
        Case((size, 0, *link, rng.randint(2, 99))),
        Case((size, 0, 50 * GB)),
        Case((size, 0, *link, rng.randint(100, 999))),
    ]
    return [*nobody, Case((size, 1, *link, rng.randint(2, 99))), Case((size, rng.randint(2, 9), *link))]


def chain_step_by_step(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    """Start-ups and bytes apart."""
    from solutions.ch14 import weight_sync

    weight_sync.chain_broadcast_time(message_bytes, receivers, bandwidth, latency, chunks)
    if not receivers:
        return 0.0
    steps = receivers - 1 + chunks
    return steps * latency + message_bytes / bandwidth * (steps / chunks)


EXERCISE = Build(
    "14 weight_sync.chain_broadcast_time",
    section="14.18",
    bonus=True,
    topic="broadcast of weights",
    cases=(
        Case((140 * GB, 8, 50 * GB)),
        Case((140 * GB, 8, 50 * GB), {"chunks": 64}),
        Case((140 * GB, 8, 50 * GB), {"chunks": 1000}),
        Case((140 * GB, 8, 50 * GB), {"latency": 10 * us, "chunks": 1000}),
        Case((140 * GB, 8, 50 * GB), {"latency": 10 * us, "chunks": 10**5}),
        Case((140 * GB, 0, 50 * GB)),
    ),
    groups=(
        Group(
            "chains",
            _chain,
            6,
            "The last chunk leaves the source after the chunks - 1 others, and then takes one hop for each receiver.",
        ),
        Group("many chunks", _many_chunks, 4, "Every step, also each of a small chunk, begins with the latency."),
        listed(
            "short chains",
            _short_chains,
            "Without receivers nothing is sent, in no time. One receiver gets all chunks, one after the other.",
        ),
    ),
    slips=(
        Slip(
            "Each receiver waits for the whole message; but chunks overlap.",
            edit=(
                "relay_time(message_bytes, receivers, chunks, bandwidth, latency)",
                "receivers * (latency + message_bytes / bandwidth)",
            ),
        ),
        Slip(
            "That is when the first receiver is done: the last one is further down the chain.",
            edit=(
                "relay_time(message_bytes, receivers, chunks, bandwidth, latency)",
                "chunks * latency + message_bytes / bandwidth if receivers else 0.0",
            ),
        ),
        Slip(
            "The chunks cost their start-up and overlap nothing; but a step moves one chunk.",
            edit=(
                "relay_time(message_bytes, receivers, chunks, bandwidth, latency)",
                "receivers * (chunks * latency + message_bytes / bandwidth)",
            ),
        ),
        Slip(
            "One step too many: the last chunk leaves after chunks - 1 steps.",
            edit=(
                "relay_time(message_bytes, receivers, chunks, bandwidth, latency)",
                "(receivers + chunks) * (latency + message_bytes / (chunks * bandwidth)) if receivers else 0.0",
            ),
        ),
        Slip(
            "One step too few: the source is not among the receivers.",
            edit=(
                "relay_time(message_bytes, receivers, chunks, bandwidth, latency)",
                "(receivers - 2 + chunks) * (latency + message_bytes / (chunks * bandwidth)) if receivers > 1 else 0.0",
            ),
        ),
        Slip(
            "With no receivers nothing is sent.",
            edit=(
                "relay_time(message_bytes, receivers, chunks, bandwidth, latency)",
                "(receivers - 1 + chunks) * (latency + message_bytes / (chunks * bandwidth))",
            ),
        ),
    ),
    rights=(
        Right("start-ups and bytes apart", program=chain_step_by_step),
        Right(
            "the first chunk, then the others",
            edit=(
                "    return relay_time(message_bytes, receivers, chunks, bandwidth, latency)\n",
                "    relay_time(message_bytes, receivers, chunks, bandwidth, latency)\n"
                "    one = latency + message_bytes / bandwidth / chunks\n"
                "    return receivers * one + (chunks - 1) * one if receivers else 0.0\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "Without receivers it takes no time.",
            edit=("relay_time(message_bytes, receivers,", "relay_time(message_bytes, max(receivers, 1),"),
        ),
    ),
)
