"""Chapter 14: ``bucketed_sync_time``, buckets in flight."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, ms


def _stages(rng: Random, count: int) -> tuple[float, ...]:
    return tuple(float(speed) * GB for speed in rng.sample((5, 7, 10, 25, 50, 100, 200, 450), count))


def _bucketed(rng: Random) -> Case:
    """Whole buckets."""
    bucket = rng.randint(1, 8)
    return Case((rng.randint(4, 100) * bucket * GB, bucket * GB, _stages(rng, rng.randint(2, 4))))


def _rest(rng: Random) -> Case:
    """A smaller last bucket, and stages that start up."""
    bucket, stages = rng.randint(2, 8), rng.randint(2, 4)
    size = rng.randint(4, 60) * bucket + rng.randint(1, 2 * bucket - 1) / 2
    return Case((size * GB, bucket * GB, _stages(rng, stages), tuple(rng.uniform(5, 50) * ms for _ in range(stages))))


def _ends(rng: Random) -> list[Case]:
    stages = _stages(rng, 3)
    size = rng.randint(2, 30) * GB
    large = [Case((size, size * rng.randint(2, 9), stages)), Case((size, size + 1.0, stages, (1 * ms, 2 * ms, 3 * ms)))]
    return [*large, Case((0, GB, stages)), Case((size, GB, stages[:1])), Case((size, size, stages))]


def buckets_one_by_one(message_bytes, bucket_bytes, bandwidths, latencies=None):
    """Bucket after bucket through all stages, what is left counted down."""
    from solutions.ch14 import weight_sync

    weight_sync.bucketed_sync_time(message_bytes, bucket_bytes, bandwidths, latencies)
    starts = latencies or [0.0] * len(bandwidths)
    done, left = [0.0] * len(bandwidths), message_bytes
    while left > 0:
        size, ready = min(left, bucket_bytes), 0.0
        for stage, (bandwidth, start) in enumerate(zip(bandwidths, starts, strict=True)):
            ready = done[stage] = max(ready, done[stage]) + start + size / bandwidth
        left -= size
    return done[-1]


def buckets_by_formula(message_bytes, bucket_bytes, bandwidths, latencies=None):
    """The longest way through stages and buckets: the slowest stage serves all buckets but the last."""
    from solutions.ch14 import weight_sync

    weight_sync.bucketed_sync_time(message_bytes, bucket_bytes, bandwidths, latencies)
    if not message_bytes:
        return 0.0
    starts = latencies or [0.0] * len(bandwidths)
    count = math.ceil(message_bytes / bucket_bytes)
    rest = message_bytes - (count - 1) * bucket_bytes
    full = [start + bucket_bytes / bandwidth for bandwidth, start in zip(bandwidths, starts, strict=True)]
    last = [start + rest / bandwidth for bandwidth, start in zip(bandwidths, starts, strict=True)]
    if count == 1:
        return sum(last)
    ways = [
        sum(full[: one + 1]) + (count - 2) * max(full[: one + 1]) + sum(last[one:]) for one in range(len(bandwidths))
    ]
    return max(ways)


EXERCISE = Build(
    "14 weight_sync.bucketed_sync_time",
    section="14.5",
    topic="buckets in flight",
    cases=(
        Case((140 * GB, GB, (450 * GB, 50 * GB, 450 * GB))),
        Case((140 * GB, 140 * GB, (450 * GB, 50 * GB, 450 * GB))),
        Case((10.5 * GB, 2 * GB, (10 * GB, 5 * GB), (10 * ms, 20 * ms))),
        Case((140 * GB, 140 * GB, (7 * GB, 7 * GB))),
        Case((0, GB, (50 * GB,))),
        Case((GB, 4 * GB, (50 * GB, 25 * GB))),
    ),
    groups=(
        Group(
            "whole buckets", _bucketed, 6, "The first bucket passes all stages; then the slowest stage sets the pace."
        ),
        Group("a rest", _rest, 5, "The last bucket may be smaller, and every bucket starts up in every stage."),
        listed(
            "one bucket, one stage", _ends, "A bucket may be larger than the message; nothing to send takes no time."
        ),
    ),
    slips=(
        Slip(
            "The stages wait for each other; but while one bucket is sent, the next is gathered.",
            edit=(
                "    full, rest = divmod(message_bytes, bucket_bytes)\n",
                "    return sum(-(-message_bytes // bucket_bytes) * a + message_bytes / b for b, a in stages)\n"
                "    full, rest = divmod(message_bytes, bucket_bytes)\n",
            ),
        ),
        Slip(
            "The slowest stage starts late: the first bucket must come to it, and leave it.",
            edit=(
                "    full, rest = divmod(message_bytes, bucket_bytes)\n",
                "    return max(-(-message_bytes // bucket_bytes) * a + message_bytes / b for b, a in stages)\n"
                "    full, rest = divmod(message_bytes, bucket_bytes)\n",
            ),
        ),
        Slip(
            "The last bucket was rounded up to a full one.",
            edit=(
                "full, rest = divmod(message_bytes, bucket_bytes)",
                "full, rest = -(-message_bytes // bucket_bytes), 0",
            ),
        ),
        Slip(
            "What does not fill a bucket was left out: it is a bucket too.", edit=("    if rest:\n", "    if False:\n")
        ),
        Slip(
            "A stage starts up once for each bucket, not once for all.",
            edits=(
                (
                    "    full, rest = divmod(message_bytes, bucket_bytes)\n"
                    "    done = _full_buckets(full, bucket_bytes, stages)\n",
                    "    if not message_bytes:\n"
                    "        return 0.0\n"
                    "    full, rest = divmod(message_bytes, bucket_bytes)\n"
                    "    done = list(starts)\n"
                    "    for _ in range(int(full)):\n"
                    "        ready = 0.0\n"
                    "        for place, bandwidth in enumerate(bandwidths):\n"
                    "            ready = done[place] = max(ready, done[place]) + bucket_bytes / bandwidth\n",
                ),
                ("message_time(rest, bandwidth, latency)", "rest / bandwidth"),
            ),
        ),
    ),
    rights=(
        Right("bucket by bucket", program=buckets_one_by_one),
        Right("the longest way", program=buckets_by_formula),
    ),
    promises=(
        Promise(
            "Nothing to send takes no time.", edits=((" if count else 0.0", ""), ("(count - 1)", "max(count - 1, 0)"))
        ),
        Promise("the last one holds the rest", edit=("message_time(rest,", "message_time(bucket_bytes,")),
        Promise("all stages work at once", edit=("max(ready, free) +", "ready + free +")),
    ),
)
