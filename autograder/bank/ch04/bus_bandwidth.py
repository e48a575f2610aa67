"""Chapter 4: ``bus_bandwidth``, bus bandwidth."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, MB, ms

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


BUS = "return factor * message_bytes / seconds"


EXERCISE = Build(
    "04 bandwidth.bus_bandwidth",
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
            "S/t was divided by the factor: in an all-reduce of more than two ranks a ring's wire carries more than S, "
            "so there the bus bandwidth is larger.",
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
    rights=(
        Right("the rate first", edit=(BUS, "return message_bytes / seconds * factor")),
        Right("the share that stays", edit=("others = (ranks - 1) / ranks", "others = 1 - 1 / ranks")),
    ),
    promises=(
        Promise(
            "but for broadcast and reduce, whose factor is always 1",
            edit=(
                "    return factor * message_bytes / seconds",
                "    return (ranks > 1) * factor * message_bytes / seconds",
            ),
        ),
    ),
)
