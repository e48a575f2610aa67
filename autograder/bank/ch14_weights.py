"""Chapter 14: what it takes to bring weights to those that generate: a chain, buckets, a change of layout."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.units import GB, ms, us

#: For a program that checks nothing; filled in with what it let pass.
UNCHECKED = "Impossible arguments were accepted: {}."

# --- chain_broadcast_time


def slip_no_pipeline(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    if message_bytes < 0 or bandwidth <= 0 or latency < 0:
        raise ValueError("link")
    if type(receivers) is not int or receivers < 0 or type(chunks) is not int or chunks < 1:
        raise ValueError("count")
    return receivers * (latency + message_bytes / bandwidth)


def slip_one_hop(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    if message_bytes < 0 or bandwidth <= 0 or latency < 0:
        raise ValueError("link")
    if type(receivers) is not int or receivers < 0 or type(chunks) is not int or chunks < 1:
        raise ValueError("count")
    return chunks * latency + message_bytes / bandwidth if receivers else 0.0


def slip_chunks_only_start(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    if message_bytes < 0 or bandwidth <= 0 or latency < 0:
        raise ValueError("link")
    if type(receivers) is not int or receivers < 0 or type(chunks) is not int or chunks < 1:
        raise ValueError("count")
    return receivers * (chunks * latency + message_bytes / bandwidth)


def slip_one_step_more(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    if message_bytes < 0 or bandwidth <= 0 or latency < 0:
        raise ValueError("link")
    if type(receivers) is not int or receivers < 0 or type(chunks) is not int or chunks < 1:
        raise ValueError("count")
    return (receivers + chunks) * (latency + message_bytes / (chunks * bandwidth)) if receivers else 0.0


def slip_source_counted(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    if message_bytes < 0 or bandwidth <= 0 or latency < 0:
        raise ValueError("link")
    if type(receivers) is not int or receivers < 0 or type(chunks) is not int or chunks < 1:
        raise ValueError("count")
    return (receivers - 2 + chunks) * (latency + message_bytes / (chunks * bandwidth)) if receivers > 1 else 0.0


def slip_nobody_waits(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    if message_bytes < 0 or bandwidth <= 0 or latency < 0:
        raise ValueError("link")
    if type(receivers) is not int or receivers < 0 or type(chunks) is not int or chunks < 1:
        raise ValueError("count")
    return (receivers - 1 + chunks) * (latency + message_bytes / (chunks * bandwidth))


def slip_any_chain(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    if receivers == 0 or chunks == 0 or bandwidth == 0:
        return 0.0
    return (receivers - 1 + chunks) * (latency + message_bytes / (chunks * bandwidth))


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


def _bad_chains(rng: Random) -> list[Case]:
    good = (GB, rng.randint(1, 9), 50 * GB, 1e-5, rng.randint(1, 9))
    wrong = ((0, -1.0), (1, -1), (1, 2.5), (2, 0), (2, -GB), (3, -1e-6), (4, 0), (4, 1.5))
    return [invalid(*good[:place], bad, *good[place + 1 :]) for place, bad in wrong]


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
        invalid(140 * GB, 8, 0),
        invalid(140 * GB, 8, 50 * GB, 0.0, 0),
    ),
    groups=(
        Group("chains", _chain, 6, "The last chunk leaves after chunks - 1 steps and takes one for each receiver."),
        Group("many chunks", _many_chunks, 4, "Each chunk starts up on each link that it takes."),
        Group(
            "short chains",
            lambda rng: rng.choice(_short_chains(rng)),
            5,
            "With nobody to send to it takes no time; one receiver gets all chunks, one after the other.",
            _short_chains,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_chains(rng)),
            8,
            "Sizes, start-ups >= 0, a bandwidth > 0, whole numbers of receivers >= 0 and chunks >= 1; or ValueError.",
            _bad_chains,
        ),
    ),
    slips=(
        Slip("Each receiver waits for the whole message there: chunks overlap.", slip_no_pipeline),
        Slip("That is when the first receiver is done: the last one is further down the chain.", slip_one_hop),
        Slip("There chunks cost their start-up and overlap nothing: a step moves one chunk.", slip_chunks_only_start),
        Slip("One step too many: the last chunk leaves after chunks - 1 steps.", slip_one_step_more),
        Slip("One step too few: the source is not among the receivers.", slip_source_counted),
        Slip("With no receivers nothing is sent.", slip_nobody_waits),
        Slip(UNCHECKED.format("no bandwidth, half a chunk"), slip_any_chain),
    ),
)

# --- bucketed_sync_time


def slip_no_overlap(message_bytes, bucket_bytes, bandwidths, latencies=None):
    starts = [0.0] * len(bandwidths) if latencies is None else list(latencies)
    if not bandwidths or len(starts) != len(bandwidths) or message_bytes < 0 or bucket_bytes <= 0:
        raise ValueError("stages")
    if min(bandwidths) <= 0 or min(starts) < 0:
        raise ValueError("stage")
    buckets = -(-message_bytes // bucket_bytes)
    return float(sum(buckets * a + message_bytes / b for b, a in zip(bandwidths, starts, strict=True)))


def slip_slowest_alone(message_bytes, bucket_bytes, bandwidths, latencies=None):
    starts = [0.0] * len(bandwidths) if latencies is None else list(latencies)
    if not bandwidths or len(starts) != len(bandwidths) or message_bytes < 0 or bucket_bytes <= 0:
        raise ValueError("stages")
    if min(bandwidths) <= 0 or min(starts) < 0:
        raise ValueError("stage")
    buckets = -(-message_bytes // bucket_bytes)
    return float(max(buckets * a + message_bytes / b for b, a in zip(bandwidths, starts, strict=True)))


def slip_last_is_full(message_bytes, bucket_bytes, bandwidths, latencies=None):
    starts = [0.0] * len(bandwidths) if latencies is None else list(latencies)
    if not bandwidths or len(starts) != len(bandwidths) or message_bytes < 0 or bucket_bytes <= 0:
        raise ValueError("stages")
    if min(bandwidths) <= 0 or min(starts) < 0:
        raise ValueError("stage")
    if message_bytes == 0:
        return 0.0
    one = [a + bucket_bytes / b for b, a in zip(bandwidths, starts, strict=True)]
    return sum(one) + (-(-message_bytes // bucket_bytes) - 1) * max(one)


def slip_rest_left_out(message_bytes, bucket_bytes, bandwidths, latencies=None):
    starts = [0.0] * len(bandwidths) if latencies is None else list(latencies)
    if not bandwidths or len(starts) != len(bandwidths) or message_bytes < 0 or bucket_bytes <= 0:
        raise ValueError("stages")
    if min(bandwidths) <= 0 or min(starts) < 0:
        raise ValueError("stage")
    one = [a + bucket_bytes / b for b, a in zip(bandwidths, starts, strict=True)]
    buckets = message_bytes // bucket_bytes
    return sum(one) + (buckets - 1) * max(one) if buckets else 0.0


def slip_one_start(message_bytes, bucket_bytes, bandwidths, latencies=None):
    starts = [0.0] * len(bandwidths) if latencies is None else list(latencies)
    if not bandwidths or len(starts) != len(bandwidths) or message_bytes < 0 or bucket_bytes <= 0:
        raise ValueError("stages")
    if min(bandwidths) <= 0 or min(starts) < 0:
        raise ValueError("stage")
    done, left = [float(start) for start in starts], message_bytes
    if left == 0:
        return 0.0
    while left > 0:
        ready = 0.0
        for stage, bandwidth in enumerate(bandwidths):
            ready = done[stage] = max(ready, done[stage]) + min(left, bucket_bytes) / bandwidth
        left -= bucket_bytes
    return done[-1]


def slip_any_buckets(message_bytes, bucket_bytes, bandwidths, latencies=None):
    starts = list(latencies or []) + [0.0] * len(bandwidths)
    done, left = [0.0, *(0.0 for _ in bandwidths)], message_bytes
    while left > 0 and bucket_bytes > 0:
        ready = 0.0
        for stage, bandwidth in enumerate(bandwidths):
            took = starts[stage] + min(left, bucket_bytes) / (bandwidth or 1.0)
            ready = done[stage] = max(ready, done[stage]) + took
        left -= bucket_bytes
    return done[len(bandwidths) - 1]


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


def _bad_buckets(rng: Random) -> list[Case]:
    good = (rng.randint(3, 9) * GB, GB, (50 * GB, 7 * GB))
    wrong = [invalid(-1.0, *good[1:]), invalid(good[0], 0, good[2]), invalid(good[0], -GB, good[2])]
    wrong += [invalid(*good[:2], stages) for stages in ((), (50 * GB, 0), (50 * GB, -GB))]
    return [*wrong, invalid(*good, (1 * ms,)), invalid(*good, (1 * ms, -1 * ms)), invalid(*good, (0.0, 0.0, 0.0))]


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
        invalid(140 * GB, 0, (50 * GB,)),
        invalid(140 * GB, GB, ()),
    ),
    groups=(
        Group(
            "whole buckets", _bucketed, 6, "The first bucket passes all stages; then the slowest stage sets the pace."
        ),
        Group("a rest", _rest, 5, "The last bucket may be smaller, and every bucket starts up in every stage."),
        Group(
            "one bucket, one stage",
            lambda rng: rng.choice(_ends(rng)),
            5,
            "A bucket may be larger than the message; nothing to send takes no time.",
            _ends,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_buckets(rng)),
            9,
            "A size >= 0, buckets > 0, one stage or more with bandwidths > 0, as many latencies >= 0; or ValueError.",
            _bad_buckets,
        ),
    ),
    slips=(
        Slip("The stages wait for each other there: while one bucket is sent, the next is gathered.", slip_no_overlap),
        Slip("The slowest stage starts late: the first bucket must come to it, and leave it.", slip_slowest_alone),
        Slip("The last bucket was rounded up to a full one.", slip_last_is_full),
        Slip("What does not fill a bucket was left out: it is a bucket too.", slip_rest_left_out),
        Slip("A stage starts up once for each bucket, not once for all.", slip_one_start),
        Slip(UNCHECKED.format("no stage, buckets of nothing"), slip_any_buckets),
    ),
)

# --- transition_cost


def slip_metadata_only(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine):
    from dataclasses import make_dataclass

    record = make_dataclass("Transition", ("received", "peak", "redundant"))
    sizes = (train_tp, train_pp, train_dp, generate_tp, generate_pp)
    if model_bytes <= 0 or any(type(size) is not int or size < 1 for size in sizes):
        raise ValueError("sizes")
    m, g, n = train_tp * train_pp, generate_tp * generate_pp, train_tp * train_pp * train_dp
    if engine == "nested":
        if m % g:
            raise ValueError("does not nest")
        return record(0.0, model_bytes / g, 0.0)
    if engine not in ("zero3", "gather"):
        raise ValueError("engine")
    n = n if engine == "zero3" else m
    return record(model_bytes * (n - 1) / n, float(model_bytes), model_bytes / n)


def slip_own_slice_received(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine):
    from dataclasses import make_dataclass

    record = make_dataclass("Transition", ("received", "peak", "redundant"))
    sizes = (train_tp, train_pp, train_dp, generate_tp, generate_pp)
    if model_bytes <= 0 or any(type(size) is not int or size < 1 for size in sizes):
        raise ValueError("sizes")
    m, g, n = train_tp * train_pp, generate_tp * generate_pp, train_tp * train_pp * train_dp
    if engine == "nested":
        if m % g:
            raise ValueError("does not nest")
        return record(model_bytes / g, model_bytes / g, 0.0)
    if engine not in ("zero3", "gather"):
        raise ValueError("engine")
    n = n if engine == "zero3" else m
    return record(float(model_bytes), float(model_bytes), model_bytes / n)


def slip_all_ranks(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine):
    from dataclasses import make_dataclass

    record = make_dataclass("Transition", ("received", "peak", "redundant"))
    sizes = (train_tp, train_pp, train_dp, generate_tp, generate_pp)
    if model_bytes <= 0 or any(type(size) is not int or size < 1 for size in sizes):
        raise ValueError("sizes")
    m, g, n = train_tp * train_pp, generate_tp * generate_pp, train_tp * train_pp * train_dp
    if engine == "nested":
        if m % g:
            raise ValueError("does not nest")
        return record(model_bytes * (n - g) / (n * g), model_bytes / g, 0.0)
    if engine not in ("zero3", "gather"):
        raise ValueError("engine")
    return record(model_bytes * (n - 1) / n, float(model_bytes), model_bytes / n)


def slip_one_replica(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine):
    from dataclasses import make_dataclass

    record = make_dataclass("Transition", ("received", "peak", "redundant"))
    sizes = (train_tp, train_pp, train_dp, generate_tp, generate_pp)
    if model_bytes <= 0 or any(type(size) is not int or size < 1 for size in sizes):
        raise ValueError("sizes")
    m, g = train_tp * train_pp, generate_tp * generate_pp
    if engine == "nested":
        if m % g:
            raise ValueError("does not nest")
        return record(model_bytes * (m - g) / (m * g), model_bytes / g, 0.0)
    if engine not in ("zero3", "gather"):
        raise ValueError("engine")
    return record(model_bytes * (m - 1) / m, float(model_bytes), model_bytes / m)


def slip_slice_is_kept(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine):
    from dataclasses import make_dataclass

    record = make_dataclass("Transition", ("received", "peak", "redundant"))
    sizes = (train_tp, train_pp, train_dp, generate_tp, generate_pp)
    if model_bytes <= 0 or any(type(size) is not int or size < 1 for size in sizes):
        raise ValueError("sizes")
    m, g, n = train_tp * train_pp, generate_tp * generate_pp, train_tp * train_pp * train_dp
    if engine == "nested":
        if m % g:
            raise ValueError("does not nest")
        return record(model_bytes * (m - g) / (m * g), model_bytes / g, model_bytes / m)
    if engine not in ("zero3", "gather"):
        raise ValueError("engine")
    n = n if engine == "zero3" else m
    return record(model_bytes * (n - 1) / n, model_bytes * (n + 1) / n, model_bytes / n)


def slip_any_change(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine):
    from dataclasses import make_dataclass

    record = make_dataclass("Transition", ("received", "peak", "redundant"))
    m, g = train_tp * train_pp or 1, generate_tp * generate_pp or 1
    if engine == "nested":
        return record(model_bytes * (m - g) / (m * g), model_bytes / g, 0.0)
    n = m * train_dp or 1
    n = n if engine == "zero3" else m
    return record(model_bytes * (n - 1) / n, float(model_bytes), model_bytes / n)


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
    return [_layout(rng, engine) for engine in ("zero3", "zero3", "gather", "gather")]


def _equal(rng: Random) -> list[Case]:
    tp, size = rng.choice((2, 4, 8)), rng.randint(10, 900) * GB
    ends = [Case((size, tp, 1, rng.randint(1, 4), tp, 1, "nested")), Case((size, 1, tp, 2, tp, 1, "nested"))]
    return [*ends, Case((size, 1, 1, 1, 1, 1, rng.choice(("zero3", "gather"))))]


def _bad_layouts(rng: Random) -> list[Case]:
    good = (rng.randint(10, 900) * GB, 8, 2, 2, 4, 1)
    wrong = [(0, 0), (0, -GB), (1, 0), (2, -1), (3, 1.5), (4, 0), (5, 0)]
    cases = [invalid(*good[:at], bad, *good[at + 1 :], rng.choice(("zero3", "gather"))) for at, bad in wrong]
    apart = [invalid(*good[:4], generate, 1, "nested") for generate in (3, 32)]
    return [*cases, *apart, invalid(*good, "hybrid"), invalid(*good, "")]


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
        invalid(140 * GB, 8, 1, 1, 3, 1, "nested"),
        invalid(140 * GB, 8, 1, 1, 2, 1, "magic"),
    ),
    groups=(
        Group("nested slices", _nested, 6, "A rank lacks its generation slice less its training slice."),
        Group(
            "full gathers",
            lambda rng: rng.choice(_gathers(rng)),
            4,
            "zero3 gathers from all ranks, gather from the ranks of one replica; a rank has its own part already.",
            _gathers,
        ),
        Group(
            "equal layouts",
            lambda rng: rng.choice(_equal(rng)),
            3,
            "Where nothing changes nothing is received.",
            _equal,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_layouts(rng)),
            11,
            "A size > 0, whole numbers >= 1, one of three engines, slices that nest; anything else is a ValueError.",
            _bad_layouts,
        ),
    ),
    slips=(
        Slip("A change of layout moves data: a rank lacks a part of its new slice.", slip_metadata_only),
        Slip("A rank has its own part already: it does not arrive.", slip_own_slice_received),
        Slip("The model-parallel group is one replica: data-parallel ranks hold the same slices.", slip_all_ranks),
        Slip("ZeRO-3 shards over the ranks of all replicas.", slip_one_replica),
        Slip("That counts the training shard once more.", slip_slice_is_kept),
        Slip(UNCHECKED.format("slices that do not nest, an engine that is not there"), slip_any_change),
    ),
)

ITEMS = (TRANSITION, CHAIN, BUCKETS)
