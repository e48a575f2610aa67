"""Chapter 04: bus bandwidth, communication against compute, and a calculator to mend."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip
from rankzero.units import GB, MB, TFLOP, ms

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")

# --- bus_bandwidth


def slip_algorithm_bandwidth(operation, message_bytes, seconds, ranks):
    known = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")
    if operation not in known or message_bytes < 0 or seconds <= 0 or ranks < 1:
        raise ValueError("out of range")
    return message_bytes / seconds


def slip_inverse_factor(operation, message_bytes, seconds, ranks):
    known = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")
    if operation not in known or message_bytes < 0 or seconds <= 0 or ranks < 1:
        raise ValueError("out of range")
    others = (ranks - 1) / ranks
    factor = {"all_reduce": 2 * others, "broadcast": 1.0, "reduce": 1.0}.get(operation, others)
    return message_bytes / seconds / factor if factor else 0.0


def slip_one_factor(operation, message_bytes, seconds, ranks):
    known = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")
    if operation not in known or message_bytes < 0 or seconds <= 0 or ranks < 1:
        raise ValueError("out of range")
    return 2 * (ranks - 1) / ranks * message_bytes / seconds


def slip_shard_size(operation, message_bytes, seconds, ranks):
    known = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")
    if operation not in known or message_bytes < 0 or seconds <= 0 or ranks < 1:
        raise ValueError("out of range")
    others = (ranks - 1) / ranks
    factor = {"all_reduce": 2 * others, "broadcast": 1.0, "reduce": 1.0}.get(operation, others)
    size = message_bytes / ranks if operation in ("all_gather", "reduce_scatter") else message_bytes
    return factor * size / seconds


def slip_bus_unchecked(operation, message_bytes, seconds, ranks):
    others = (ranks - 1) / ranks
    factor = {"all_reduce": 2 * others, "broadcast": 1.0, "reduce": 1.0}.get(operation, others)
    return factor * message_bytes / seconds


def _bus(rng: Random) -> Case:
    seconds = 10 ** rng.uniform(-5, 0)
    return Case(args=(rng.choice(OPERATIONS), 10 ** rng.uniform(4, 11), seconds, rng.randint(3, 4096)))


def _bus_of_each(rng: Random) -> list[Case]:
    names = [*OPERATIONS, "all_gather"]
    return [Case(args=(n, 10 ** rng.uniform(4, 11), 10 ** rng.uniform(-5, 0), rng.randint(3, 64))) for n in names]


def _bus_rest(rng: Random) -> Case:
    """One rank, or nothing sent."""
    size, ranks = rng.choice([(1 * GB, 1), (0.0, 8)])
    return Case(args=(rng.choice(OPERATIONS), size, 10 ** rng.uniform(-5, 0), ranks))


def _bus_alone(rng: Random) -> list[Case]:
    return [Case(args=(name, 1 * GB, 10 ** rng.uniform(-5, 0), 1)) for name in OPERATIONS]


def _bus_errors(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 64)
    broken: list[tuple] = [
        ("allreduce", 1 * GB, 10 * ms, ranks),
        ("barrier", 1 * GB, 10 * ms, ranks),
        ("all_reduce", 1 * GB, 0.0, ranks),
        ("broadcast", 1 * GB, -10 * ms, ranks),
        ("all_gather", -1.0, 10 * ms, ranks),
        ("all_reduce", 1 * GB, 10 * ms, 0),
    ]
    return [Case(args=args, raises="ValueError") for args in broken]


def _bus_error(rng: Random) -> Case:
    return rng.choice(_bus_errors(rng))


BUS_BANDWIDTH = Build(
    id="04-bus-bandwidth",
    module="bandwidth",
    function="bus_bandwidth",
    grade="call",
    section="4.7",
    topic="bus bandwidth",
    cases=(
        Case(args=("all_reduce", 4 * GB, 30 * ms, 8)),
        Case(args=("all_gather", 4 * GB, 30 * ms, 8)),
        Case(args=("all_reduce", 64 * MB, 12.5 * ms, 4)),
        Case(args=("broadcast", 1 * GB, 25 * ms, 16)),
        Case(args=("all_reduce", 1 * GB, 1.75 / 450, 8)),  # the ideal ring over NVLink 4
        Case(args=("reduce", 1 * GB, 25 * ms, 1)),
        Case(args=("all_reduce", 1 * GB, 0.0, 8), raises="ValueError"),
    ),
    groups=(
        Group("every operation", _bus, 9, "The factor depends on the operation; S is the full tensor.", _bus_of_each),
        Group("one rank", _bus_rest, 7, "One rank moves nothing, but broadcast and reduce have factor 1.", _bus_alone),
        Group(
            "bad input",
            _bus_error,
            6,
            "Bad input must raise ValueError: other operations, no time, no ranks, negative sizes.",
            _bus_errors,
        ),
    ),
    slips=(
        Slip("That is the algorithm bandwidth, S/t: multiply by what the wire carries.", slip_algorithm_bandwidth),
        Slip(
            "The factor was divided by: a ring's wire carries more than S, so the bus bandwidth is larger.",
            slip_inverse_factor,
        ),
        Slip("The factor of all-reduce was used for every operation.", slip_one_factor),
        Slip("S is the full tensor for all-gather and reduce-scatter, not one rank's shard.", slip_shard_size),
        Slip("Impossible arguments were accepted: other operations, no time, no ranks.", slip_bus_unchecked),
    ),
)


# --- communication_ratio


def slip_inverse(gradient_bytes, ranks, bandwidth, flops, rate):
    if gradient_bytes < 0 or ranks < 1 or bandwidth <= 0 or flops <= 0 or rate <= 0:
        raise ValueError("out of range")
    communicating = 2 * (ranks - 1) / ranks * gradient_bytes / bandwidth
    return flops / rate / communicating if communicating else 0.0


def slip_without_factor(gradient_bytes, ranks, bandwidth, flops, rate):
    if gradient_bytes < 0 or ranks < 1 or bandwidth <= 0 or flops <= 0 or rate <= 0:
        raise ValueError("out of range")
    return gradient_bytes / bandwidth / (flops / rate)


def slip_tera(gradient_bytes, ranks, bandwidth, flops, rate):
    if gradient_bytes < 0 or ranks < 1 or bandwidth <= 0 or flops <= 0 or rate <= 0:
        raise ValueError("out of range")
    return 2 * (ranks - 1) / ranks * gradient_bytes / bandwidth / (flops / (rate * 1e12))


def slip_peak(gradient_bytes, ranks, bandwidth, flops, rate):
    if gradient_bytes < 0 or ranks < 1 or bandwidth <= 0 or flops <= 0 or rate <= 0:
        raise ValueError("out of range")
    return 2 * (ranks - 1) / ranks * gradient_bytes / bandwidth / (flops / 989.4e12)


def slip_ratio_unchecked(gradient_bytes, ranks, bandwidth, flops, rate):
    return 2 * (ranks - 1) / ranks * gradient_bytes / bandwidth / (flops / rate)


def _work(rng: Random) -> tuple[float, float]:
    """FLOP of a step, and FLOP/s that are achieved."""
    return 10 ** rng.uniform(12, 16), rng.uniform(100, 900) * TFLOP


def _ratio(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(6, 11), rng.randint(3, 4096), 10 ** rng.uniform(9, 12), *_work(rng)))


def _silent(rng: Random) -> Case:
    """One rank, or no gradients."""
    size, ranks = rng.choice([(10 ** rng.uniform(6, 11), 1), (0.0, 8)])
    return Case(args=(size, ranks, 50 * GB, *_work(rng)))


def _ratio_errors(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 64)
    broken: list[tuple] = [
        (-1.0, ranks, 50 * GB, *_work(rng)),
        (1 * GB, 0, 50 * GB, *_work(rng)),
        (1 * GB, ranks, -50 * GB, *_work(rng)),
        (1 * GB, ranks, 50 * GB, 0.0, 495 * TFLOP),
        (1 * GB, ranks, 50 * GB, 120 * TFLOP, -495 * TFLOP),
    ]
    return [Case(args=args, raises="ValueError") for args in broken]


def _ratio_error(rng: Random) -> Case:
    return rng.choice(_ratio_errors(rng))


COMMUNICATION_RATIO = Build(
    id="04-communication-ratio",
    module="bandwidth",
    function="communication_ratio",
    grade="call",
    section="4.11",
    topic="communication against compute",
    bonus=True,
    cases=(
        Case(args=(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 64, 400 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 64, 50 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 1, 50 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 8, 0.0, 120 * TFLOP, 495 * TFLOP), raises="ValueError"),
    ),
    groups=(
        Group("many ranks", _ratio, 6, "Time of a ring all-reduce over time of the work."),
        Group("nothing to send", _silent, 3, "One rank communicates nothing, and neither do zero bytes."),
        Group(
            "bad input",
            _ratio_error,
            5,
            "Bad input must raise ValueError: negative sizes, no ranks, no bandwidth, no work, no rate.",
            _ratio_errors,
        ),
    ),
    slips=(
        Slip("The ratio is upside down: communication over compute.", slip_inverse),
        Slip("The ring's factor is missing: a rank sends 2(N-1)/N of the gradients.", slip_without_factor),
        Slip("The rate is in FLOP/s already: do not multiply it by 1e12.", slip_tera),
        Slip("A data sheet's peak was written in: divide by the rate that is achieved and given.", slip_peak),
        Slip("Impossible arguments were accepted: negative sizes, no ranks, no rate.", slip_ratio_unchecked),
    ),
)


# --- debug_gbit


def wrong_gbit(size_mb, ranks, bandwidth_gbps):
    size_gb = size_mb / 1024
    return 2 * (ranks - 1) / ranks * size_gb / bandwidth_gbps


def slip_eight_only(size_mb, ranks, bandwidth_gbps):
    size_gb = size_mb / 1024
    return 2 * (ranks - 1) / ranks * size_gb / (bandwidth_gbps / 8)


def slip_thousand_only(size_mb, ranks, bandwidth_gbps):
    size_gb = size_mb / 1000
    return 2 * (ranks - 1) / ranks * size_gb / bandwidth_gbps


def slip_binary_megabytes(size_mb, ranks, bandwidth_gbps):
    return 2 * (ranks - 1) / ranks * size_mb * 2**20 / (bandwidth_gbps * 1e9 / 8)


def _calculated(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(0, 5), rng.randint(2, 512), rng.choice([10, 25, 100, 200, 400, 800])))


def _alone(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(0, 5), 1, rng.choice([10, 100, 400])))


DEBUG_GBIT = Debug(
    id="04-debug-gbit",
    module="bandwidth",
    function="debug_gbit",
    grade="call",
    section="4.7",
    topic="bits and bytes",
    cases=(Case(args=(100, 8, 100)), Case(args=(100, 8, 400)), Case(args=(1000, 8, 100)), Case(args=(100, 64, 100))),
    groups=(
        Group("rings", _calculated, 6, "Turn both into bytes and bytes per second first."),
        Group("one rank", _alone, 2, "A ring of one rank takes no time."),
    ),
    slips=(
        Slip("Gigabits are still taken for gigabytes, and 1024 for 1000.", wrong_gbit),
        Slip("The bits are right now; a megabyte is still 1/1024 of a gigabyte.", slip_eight_only),
        Slip("The sizes are right now; gigabits are still taken for gigabytes.", slip_thousand_only),
        Slip("A megabyte is 10**6 bytes here; 2**20 bytes are a MiB.", slip_binary_megabytes),
    ),
    wrong=wrong_gbit,
)

ITEMS = (BUS_BANDWIDTH, COMMUNICATION_RATIO, DEBUG_GBIT)
