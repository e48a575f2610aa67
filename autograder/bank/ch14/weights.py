"""Chapter 14: what it takes to bring weights to those that generate: a chain, buckets, a change of layout."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip
from rankzero.facts.units import GB, ms, us

# --- chain_broadcast_time


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


CHAIN = Build(
    id="14-chain-broadcast-time",
    module="weight_sync",
    function="chain_broadcast_time",
    grade="call",
    section="14.5",
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
)

# --- bucketed_sync_time


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


BUCKETS = Build(
    id="14-bucketed-sync-time",
    module="weight_sync",
    function="bucketed_sync_time",
    grade="call",
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
)

# --- transition_cost


#: Those that gather the whole model.
ENGINES = ("zero3", "gather")


def _layout(rng: Random, engine: str) -> Case:
    """Powers of two and three, with more than one replica; the generation slices divide the training ones."""
    base = rng.choice((2, 2, 3))
    tp, pp, dp = base ** rng.randint(1, 2), base ** rng.randint(0, 2), base ** rng.randint(1, 3)
    generate = rng.choice(
        [(t, p) for t in (1, base, base**2) for p in (1, base) if tp * pp % (t * p) == 0 and t * p < tp * pp]
    )
    return Case((rng.randint(10, 900) * GB, tp, pp, dp, *generate, engine))


def _nested(rng: Random) -> Case:
    return _layout(rng, "nested")


def _gathers(rng: Random) -> list[Case]:
    """Also to generation layouts whose slices do not nest in those of training: these engines do not use them."""
    apart = [Case((rng.randint(10, 900) * GB, 4, 2, 2, rng.choice((3, 5, 16)), 1, engine)) for engine in ENGINES]
    return [*apart, *(_layout(rng, engine) for engine in ENGINES for _ in range(2))]


def _equal(rng: Random) -> list[Case]:
    tp, size = rng.choice((2, 4, 8)), rng.randint(10, 900) * GB
    ends = [Case((size, tp, 1, rng.randint(1, 4), tp, 1, "nested")), Case((size, 1, tp, 2, tp, 1, "nested"))]
    return [*ends, Case((size, 1, 1, 1, 1, 1, rng.choice(("zero3", "gather"))))]


TRANSITION = Build(
    id="14-transition-cost",
    module="weight_sync",
    function="transition_cost",
    grade="call",
    section="14.4",
    topic="from training to generation",
    cases=(
        *(Case((140 * GB, 8, 1, 2, 2, 1, engine)) for engine in ("zero3", "gather", "nested")),
        *(Case((140 * GB, 8, 2, 4, 4, 1, engine)) for engine in ("zero3", "gather", "nested")),
        Case((140 * GB, 4, 1, 1, 4, 1, "nested")),
    ),
    groups=(
        Group("nested slices", _nested, 6, "A rank lacks its generation slice less its training slice."),
        listed(
            "full gathers",
            _gathers,
            "zero3 gathers from all ranks, gather from the ranks of one replica; a rank has its own part already.",
        ),
        listed("equal layouts", _equal, "Where nothing changes nothing is received."),
    ),
    slips=(
        Slip(
            "A change of layout moves data: a rank lacks a part of its new slice.",
            edit=("Transition(model_bytes * (parts - slices) / (parts * slices), model", "Transition(0.0, model"),
        ),
        Slip(
            "A rank has its own part already: it does not arrive.",
            edits=(
                ("Transition(model_bytes * (parts - slices) / (parts * slices),", "Transition(model_bytes / slices,"),
                ("Transition(model_bytes * (ranks - 1) / ranks,", "Transition(float(model_bytes),"),
            ),
        ),
        Slip(
            "The model-parallel group is one replica: data-parallel ranks hold the same slices.",
            edits=(
                (
                    "model_bytes * (parts - slices) / (parts * slices)",
                    "model_bytes * (parts * train_dp - slices) / (parts * train_dp * slices)",
                ),
                ('parts * train_dp if engine == "zero3" else parts', "parts * train_dp"),
            ),
        ),
        Slip(
            "ZeRO-3 shards over the ranks of all replicas.",
            edit=('parts * train_dp if engine == "zero3" else parts', "parts"),
        ),
        Slip(
            "That counts the training shard once more.",
            edits=(
                ("model_bytes / slices, 0.0)", "model_bytes / slices, model_bytes / parts)"),
                ("float(model_bytes), model_bytes / ranks", "model_bytes * (ranks + 1) / ranks, model_bytes / ranks"),
            ),
        ),
    ),
)

ITEMS = (TRANSITION, CHAIN, BUCKETS)
