"""Chapter 03: what a collective costs. Three closed forms: bytes per rank, ring time, and a formula to mend."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip
from rankzero.units import GB, MB, Gbit, us

OPERATIONS = ("broadcast", "scatter", "gather", "all_gather", "reduce", "all_reduce", "reduce_scatter", "all_to_all")
ROOTED = ("broadcast", "scatter", "gather", "reduce")


# --- traffic: every wrong program is right but for one operation


def slip_shard_for_tensor(operation, message_bytes, ranks, rank, root=0):
    if not (message_bytes >= 0 and ranks >= 1 and rank in range(ranks) and root in range(ranks)):
        raise ValueError("out of range")
    part, after, last = message_bytes * (ranks - 1) / ranks, (rank - root) % ranks, (root + 1) % ranks
    answers = {
        "broadcast": (message_bytes * (after < ranks - 1), message_bytes * (after > 0)),
        "reduce": (message_bytes * (rank != root), message_bytes * (rank != last)),
        "scatter": (part, 0.0) if rank == root else (0.0, message_bytes / ranks),
        "gather": (0.0, part) if rank == root else (message_bytes / ranks, 0.0),
        "all_gather": ((ranks - 1) * message_bytes, (ranks - 1) * message_bytes),
        "all_reduce": (2 * part, 2 * part),
        "reduce_scatter": (part, part),
        "all_to_all": (part, part),
    }
    if operation not in answers:
        raise ValueError("operation")
    return answers[operation]


def slip_two_tensors(operation, message_bytes, ranks, rank, root=0):
    if not (message_bytes >= 0 and ranks >= 1 and rank in range(ranks) and root in range(ranks)):
        raise ValueError("out of range")
    part, after, last = message_bytes * (ranks - 1) / ranks, (rank - root) % ranks, (root + 1) % ranks
    answers = {
        "broadcast": (message_bytes * (after < ranks - 1), message_bytes * (after > 0)),
        "reduce": (message_bytes * (rank != root), message_bytes * (rank != last)),
        "scatter": (part, 0.0) if rank == root else (0.0, message_bytes / ranks),
        "gather": (0.0, part) if rank == root else (message_bytes / ranks, 0.0),
        "all_gather": (part, part),
        "all_reduce": (2 * message_bytes, 2 * message_bytes),
        "reduce_scatter": (part, part),
        "all_to_all": (part, part),
    }
    if operation not in answers:
        raise ValueError("operation")
    return answers[operation]


def slip_both_ways_in_one(operation, message_bytes, ranks, rank, root=0):
    if not (message_bytes >= 0 and ranks >= 1 and rank in range(ranks) and root in range(ranks)):
        raise ValueError("out of range")
    part, after, last = message_bytes * (ranks - 1) / ranks, (rank - root) % ranks, (root + 1) % ranks
    answers = {
        "broadcast": message_bytes * (after < ranks - 1) + message_bytes * (after > 0),
        "reduce": message_bytes * (rank != root) + message_bytes * (rank != last),
        "scatter": part if rank == root else message_bytes / ranks,
        "gather": part if rank == root else message_bytes / ranks,
        "all_gather": 2 * part,
        "all_reduce": 4 * part,
        "reduce_scatter": 2 * part,
        "all_to_all": 2 * part,
    }
    if operation not in answers:
        raise ValueError("operation")
    return answers[operation]


def slip_own_block_travels(operation, message_bytes, ranks, rank, root=0):
    if not (message_bytes >= 0 and ranks >= 1 and rank in range(ranks) and root in range(ranks)):
        raise ValueError("out of range")
    part, after, last = message_bytes * (ranks - 1) / ranks, (rank - root) % ranks, (root + 1) % ranks
    answers = {
        "broadcast": (message_bytes * (after < ranks - 1), message_bytes * (after > 0)),
        "reduce": (message_bytes * (rank != root), message_bytes * (rank != last)),
        "scatter": (part, 0.0) if rank == root else (0.0, message_bytes / ranks),
        "gather": (0.0, part) if rank == root else (message_bytes / ranks, 0.0),
        "all_gather": (part, part),
        "all_reduce": (2 * part, 2 * part),
        "reduce_scatter": (part, part),
        "all_to_all": (message_bytes, message_bytes),
    }
    if operation not in answers:
        raise ValueError("operation")
    return answers[operation]


def slip_mirrored_chain(operation, message_bytes, ranks, rank, root=0):
    if not (message_bytes >= 0 and ranks >= 1 and rank in range(ranks) and root in range(ranks)):
        raise ValueError("out of range")
    part, after = message_bytes * (ranks - 1) / ranks, (rank - root) % ranks
    answers = {
        "broadcast": (message_bytes * (after < ranks - 1), message_bytes * (after > 0)),
        "reduce": (message_bytes * (after > 0), message_bytes * (after < ranks - 1)),
        "scatter": (part, 0.0) if rank == root else (0.0, message_bytes / ranks),
        "gather": (0.0, part) if rank == root else (message_bytes / ranks, 0.0),
        "all_gather": (part, part),
        "all_reduce": (2 * part, 2 * part),
        "reduce_scatter": (part, part),
        "all_to_all": (part, part),
    }
    if operation not in answers:
        raise ValueError("operation")
    return answers[operation]


def _traffic(rng: Random, operation: str) -> Case:
    ranks = rng.randint(3, 64)
    root = rng.randrange(ranks) if operation in ROOTED else 0
    return Case(args=(operation, float(rng.randint(1, 10**9)), ranks, rng.randrange(ranks), root))


def _traffic_ordinary(rng: Random) -> Case:
    return _traffic(rng, rng.choice(OPERATIONS))


def _traffic_every_operation(rng: Random) -> list[Case]:
    return [_traffic(rng, operation) for operation in OPERATIONS for _ in range(2)]


def _traffic_chain(rng: Random) -> Case:
    """The ends of the chains: the root, the rank before it and the rank after it."""
    ranks = rng.randint(3, 12)
    root = rng.randrange(ranks)
    rank = (root + rng.choice([-1, 0, 1])) % ranks
    return Case(args=(rng.choice(ROOTED), float(rng.randint(1, 10**9)), ranks, rank, root))


def _traffic_chain_ends(rng: Random) -> list[Case]:
    ends = [(operation, step) for operation in ROOTED for step in (-1, 0, 1)]
    ranks = rng.randint(3, 12)
    root = rng.randrange(ranks)
    return [Case(args=(operation, 6 * MB, ranks, (root + step) % ranks, root)) for operation, step in ends]


def _traffic_nothing(rng: Random) -> Case:
    """One rank, or zero bytes."""
    operation = rng.choice(OPERATIONS)
    return rng.choice([Case(args=(operation, 8 * MB, 1, 0)), Case(args=(operation, 0.0, rng.randint(2, 9), 1))])


def _traffic_nothings(_: Random) -> list[Case]:
    return [Case(args=(operation, *size, 0)) for operation in OPERATIONS for size in ((8 * MB, 1), (0.0, 4))]


def _traffic_errors(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 9)
    broken = [
        ("allreduce", 8 * MB, ranks, 0),
        ("all_reduce", -1.0, ranks, 0),
        ("all_gather", 8 * MB, 0, 0),
        ("all_reduce", 8 * MB, ranks, ranks),
        ("all_reduce", 8 * MB, ranks, -1),
        ("broadcast", 8 * MB, ranks, 0, ranks),
    ]
    return [Case(args=args, raises="ValueError") for args in broken]


def _traffic_error(rng: Random) -> Case:
    return rng.choice(_traffic_errors(rng))


TRAFFIC = Build(
    id="03-traffic",
    module="collective_cost",
    function="traffic",
    grade="call",
    section="3.7",
    topic="bytes per rank",
    cases=(
        Case(args=("all_reduce", 1 * GB, 8, 0)),  # nccl-tests: 2(n-1)/n
        Case(args=("all_gather", 1 * GB, 8, 0)),  # nccl-tests: (n-1)/n
        Case(args=("all_reduce", 8 * MB, 4, 0)),
        Case(args=("all_gather", 8 * MB, 4, 0)),
        Case(args=("all_to_all", 8 * MB, 4, 3)),
        Case(args=("broadcast", 8 * MB, 4, 1), kwargs={"root": 2}),
        Case(args=("scatter", 8 * MB, 4, 2), kwargs={"root": 2}),
        Case(args=("reduce", 8 * MB, 4, 3), kwargs={"root": 2}),
        Case(args=("all_reduce", 8 * MB, 1, 0)),
    ),
    groups=(
        Group("every operation", _traffic_ordinary, 20, "3 to 64 ranks, any rank and root", _traffic_every_operation),
        Group("ends of a chain", _traffic_chain, 14, "the root and its neighbours", _traffic_chain_ends),
        Group("nothing to send", _traffic_nothing, 16, "one rank, or zero bytes", _traffic_nothings),
        Group("bad input", _traffic_error, 6, "a negative size, no ranks, a rank or root outside", _traffic_errors),
    ),
    slips=(
        Slip("all_gather took S for one rank's shard: here S is the whole, gathered tensor.", slip_shard_for_tensor),
        Slip("all_reduce moved 2 S: the own chunk does not travel, the factor is 2(N-1)/N.", slip_two_tensors),
        Slip("sent and received were added to one number: return both, sent first.", slip_both_ways_in_one),
        Slip("all_to_all moved all of S: a rank keeps the block that is for itself.", slip_own_block_travels),
        Slip("reduce ran the broadcast chain backwards: it runs root+1, root+2, ..., root.", slip_mirrored_chain),
    ),
)


# --- ring_all_reduce_time


def slip_phases_twice(message_bytes, ranks, bandwidth, latency=0.0):
    if message_bytes < 0 or ranks < 1 or bandwidth <= 0 or latency < 0:
        raise ValueError("out of range")
    return 2 * 2 * (ranks - 1) * (latency + message_bytes / (ranks * bandwidth))


def slip_one_latency(message_bytes, ranks, bandwidth, latency=0.0):
    if message_bytes < 0 or ranks < 1 or bandwidth <= 0 or latency < 0:
        raise ValueError("out of range")
    return (latency if ranks > 1 else 0.0) + 2 * (ranks - 1) * message_bytes / (ranks * bandwidth)


def slip_whole_tensors(message_bytes, ranks, bandwidth, latency=0.0):
    if message_bytes < 0 or ranks < 1 or bandwidth <= 0 or latency < 0:
        raise ValueError("out of range")
    return 2 * (ranks - 1) * (latency + message_bytes / bandwidth)


def slip_both_directions(message_bytes, ranks, bandwidth, latency=0.0):
    if message_bytes < 0 or ranks < 1 or bandwidth <= 0 or latency < 0:
        raise ValueError("out of range")
    return 2 * (ranks - 1) * (latency + message_bytes / (ranks * 2 * bandwidth))


def slip_bits_for_bytes(message_bytes, ranks, bandwidth, latency=0.0):
    if message_bytes < 0 or ranks < 1 or bandwidth <= 0 or latency < 0:
        raise ValueError("out of range")
    return 2 * (ranks - 1) * (latency + message_bytes / (ranks * 8 * bandwidth))


def slip_unchecked(message_bytes, ranks, bandwidth, latency=0.0):
    return 2 * (ranks - 1) * (latency + message_bytes / (ranks * bandwidth))


def _time(rng: Random) -> Case:
    size, ranks = 10 ** rng.uniform(5, 12), rng.randint(2, 16384)
    return Case(args=(size, ranks, 10 ** rng.uniform(8, 12), 10 ** rng.uniform(-7, -4)))


def _time_plain(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 12), rng.randint(2, 1024), 10 ** rng.uniform(8, 12)))


def _time_nothing(rng: Random) -> Case:
    """One rank, zero bytes, or both."""
    latency = 10 ** rng.uniform(-7, -4)
    return Case(args=(rng.choice([0.0, 1 * GB]), 1, 50 * GB, latency))


def _time_nothings(rng: Random) -> list[Case]:
    alone = [Case(args=(size, 1, 50 * GB, 5 * us)) for size in (0.0, 1 * GB)]
    return [*alone, *(Case(args=(0.0, rng.randint(2, 64), 50 * GB, 10 ** rng.uniform(-7, -4))) for _ in range(2))]


def _time_errors(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 64)
    broken = [(-1.0, ranks, 50 * GB), (1 * GB, 0, 50 * GB), (1 * GB, -ranks, 50 * GB), (1 * GB, ranks, 0.0)]
    broken += [(1 * GB, ranks, -50 * GB)]
    return [
        *(Case(args=args, raises="ValueError") for args in broken),
        Case(args=(1 * GB, ranks, 50 * GB), kwargs={"latency": -5 * us}, raises="ValueError"),
    ]


def _time_error(rng: Random) -> Case:
    return rng.choice(_time_errors(rng))


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
        Group("with latency", _time, 6, "2 to 16,384 ranks, up to 1 TB, with a latency"),
        Group("without latency", _time_plain, 4, "the latency left out"),
        Group("nothing to send", _time_nothing, 4, "one rank, or zero bytes", _time_nothings),
        Group("bad input", _time_error, 6, "a negative size or latency, no ranks, no bandwidth", _time_errors),
    ),
    slips=(
        Slip("both phases were counted twice: 2(N-1) steps already hold both.", slip_phases_twice),
        Slip("the latency was counted once: every one of the 2(N-1) steps starts up.", slip_one_latency),
        Slip("each step moved the whole tensor: the ring sends one chunk, S/N, at a time.", slip_whole_tensors),
        Slip("both directions of the link were added up: the ring sends in one direction.", slip_both_directions),
        Slip("the bandwidth was multiplied by 8: it is in bytes per second already.", slip_bits_for_bytes),
        Slip("impossible arguments were accepted: no ranks, negative sizes, no bandwidth.", slip_unchecked),
    ),
)


# --- debug_double


def wrong_double(message_bytes, ranks, bandwidth):
    steps = 2 * (ranks - 1)
    return 2 * steps * (message_bytes / ranks) / bandwidth


def slip_divides_twice(message_bytes, ranks, bandwidth):
    steps = 2 * (ranks - 1)
    return steps * (message_bytes / ranks) / ranks / bandwidth


def _double(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 12), rng.randint(2, 1024), 10 ** rng.uniform(8, 12)))


def _double_alone(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 12), 1, 10 ** rng.uniform(8, 12)))


DEBUG_DOUBLE = Debug(
    id="03-debug-double",
    module="collective_cost",
    function="debug_double",
    grade="call",
    section="3.8",
    topic="ring time",
    cases=(Case(args=(2 * GB, 8, 50 * GB)), Case(args=(1 * GB, 8, 450 * GB)), Case(args=(14 * GB, 64, 50 * GB))),
    groups=(
        Group("rings", _double, 6, "2 to 1,024 ranks"),
        Group("one rank", _double_alone, 2, "a ring of one rank"),
    ),
    slips=(
        Slip("both phases are still counted twice: `steps` already holds the factor 2.", wrong_double),
        Slip("the tensor was divided by the number of ranks twice.", slip_divides_twice),
    ),
    wrong=wrong_double,
)

ITEMS = (TRAFFIC, RING_ALL_REDUCE_TIME, DEBUG_DOUBLE)
