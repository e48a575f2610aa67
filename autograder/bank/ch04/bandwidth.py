"""Chapter 04: bus bandwidth, communication against compute, and a calculator to debug."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip
from rankzero.facts.units import GB, MB, TFLOP, ms

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")


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


BUS_BANDWIDTH = Build(
    id="04-bus-bandwidth",
    module="bandwidth",
    function="bus_bandwidth",
    grade="call",
    section="4.6",
    topic="bus bandwidth",
    cases=(
        Case(args=("all_reduce", 4 * GB, 30 * ms, 8)),
        Case(args=("all_gather", 4 * GB, 30 * ms, 8)),
        Case(args=("all_reduce", 64 * MB, 12.5 * ms, 4)),
        Case(args=("broadcast", 1 * GB, 25 * ms, 16)),
        Case(args=("all_reduce", 1 * GB, 1.75 / 450, 8)),  # the ideal ring over NVLink 4
        Case(args=("reduce", 1 * GB, 25 * ms, 1)),
    ),
    groups=(
        Group("every operation", _bus, 9, "The factor depends on the operation; S is the full tensor.", _bus_of_each),
        Group("one rank", _bus_rest, 7, "One rank moves nothing, but broadcast and reduce have factor 1.", _bus_alone),
    ),
    slips=(
        Slip(
            "That is the algorithm bandwidth, S/t: multiply by what the wire carries.",
            edit=("factor * message_bytes", "message_bytes"),
        ),
        Slip(
            "S/t was divided by the factor: a ring's wire carries more than S, so the bus bandwidth is larger.",
            edit=("factor * message_bytes / seconds", "message_bytes / seconds / factor if factor else 0.0"),
        ),
        Slip(
            "The factor of all-reduce was used for every operation.",
            edit=("return factor", "return 2 * (ranks - 1) / ranks"),
        ),
        Slip(
            "S is the full tensor for all-gather and reduce-scatter, not one rank's shard.",
            edit=(
                "factor * message_bytes",
                (
                    'factor * (message_bytes / ranks if operation in ("all_gather", "reduce_scatter") '
                    "else message_bytes)"
                ),
            ),
        ),
    ),
)


def _work(rng: Random) -> tuple[float, float]:
    """FLOP of a step, and FLOP/s that are achieved."""
    return 10 ** rng.uniform(12, 16), rng.uniform(100, 900) * TFLOP


def _ratio(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(6, 11), rng.randint(3, 4096), 10 ** rng.uniform(9, 12), *_work(rng)))


def _silent(rng: Random) -> Case:
    """One rank, or no gradients."""
    size, ranks = rng.choice([(10 ** rng.uniform(6, 11), 1), (0.0, 8)])
    return Case(args=(size, ranks, 50 * GB, *_work(rng)))


COMMUNICATION_RATIO = Build(
    id="04-communication-ratio",
    module="bandwidth",
    function="communication_ratio",
    grade="call",
    section="4.15",
    topic="communication against compute",
    bonus=True,
    cases=(
        Case(args=(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 64, 400 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 64, 50 * GB, 120 * TFLOP, 495 * TFLOP)),
        Case(args=(20 * GB, 1, 50 * GB, 120 * TFLOP, 495 * TFLOP)),
    ),
    groups=(
        Group("many ranks", _ratio, 6, "Time of a ring all-reduce over time of the work."),
        Group("nothing to send", _silent, 3, "One rank communicates nothing, and neither do zero bytes."),
    ),
    slips=(
        Slip(
            "The ratio is upside down: communication over compute.",
            edit=(
                "return ring_all_reduce_time(gradient_bytes, ranks, bandwidth) / (flops / rate)",
                (
                    "communicating = ring_all_reduce_time(gradient_bytes, ranks, bandwidth)\n"
                    "    return flops / rate / communicating if communicating else 0.0"
                ),
            ),
        ),
        Slip(
            "The ring's factor is missing: a rank sends 2(N-1)/N of the gradients.",
            edit=("ring_all_reduce_time(gradient_bytes, ranks, bandwidth)", "gradient_bytes / bandwidth"),
        ),
        Slip(
            "The rate is in FLOP/s already: do not multiply it by 1e12.", edit=("flops / rate", "flops / (rate * 1e12)")
        ),
        Slip(
            "A data sheet's peak was written in: divide by the rate that is achieved and given.",
            edit=(
                "ring_all_reduce_time(gradient_bytes, ranks, bandwidth) / (flops / rate)",
                "2 * (ranks - 1) / ranks * gradient_bytes / bandwidth / (flops / 989.4e12)",
            ),
        ),
    ),
)


def wrong_gbit(size_mb, ranks, bandwidth_gbps):
    size_gb = size_mb / 1024
    return 2 * (ranks - 1) / ranks * size_gb / bandwidth_gbps


def _calculated(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(0, 5), rng.randint(2, 512), rng.choice([10, 25, 100, 200, 400, 800])))


def _alone(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(0, 5), 1, rng.choice([10, 100, 400])))


DEBUG_GBIT = Debug(
    id="04-debug-gbit",
    module="bandwidth",
    function="debug_gbit",
    grade="call",
    section="4.15",
    topic="bits and bytes",
    bonus=True,
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
    wrong=wrong_gbit,
)

ITEMS = (BUS_BANDWIDTH, COMMUNICATION_RATIO, DEBUG_GBIT)
