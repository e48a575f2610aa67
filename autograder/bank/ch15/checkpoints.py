"""The capstone: what an interval wastes, what a failure costs, how long a checkpoint takes, and minutes to fix."""

from __future__ import annotations

from random import Random

from autograder.bank.ch15.wrong_waste import CHECKPOINT_WASTE, CHECKPOINT_WRITE_TIME, FAILURE_COST
from autograder.bank.groups import listed
from autograder.items import Build, Case, Debug, Group, Slip


def _log(rng: Random, low: float, high: float) -> float:
    return float(f"{low * (high / low) ** rng.random():.6g}")


# --- checkpoint_write_time


def _written(rng: Random, slower: str | None = None) -> Case:
    """Slower are all links together, or the storage, or the storage even than one link."""
    parameters, size, writers = _log(rng, 1e9, 1e12), rng.choice((12, 14, 16.0)), rng.randint(8, 20_000)
    link = _log(rng, 1e8, 5e10)
    links = {"links": writers * 2, "storage": writers / 2, "one link": 1}[slower or rng.choice(("links", "storage"))]
    return Case((parameters, size, writers, link, link * links * rng.uniform(0.6, 0.9)))


def _one_writer(rng: Random) -> Case:
    return Case((_log(rng, 1e9, 1e12), 14, 1, _log(rng, 1e9, 1e10), _log(rng, 1e9, 1e10)))


WRITE = Build(
    id="cap-checkpoint-write-time",
    module="checkpointing",
    function="checkpoint_write_time",
    grade="call",
    section="15.20",
    topic="writing a checkpoint",
    bonus=True,
    cases=(
        Case((70e9, 14, 1, 10e9, 10e9)),
        Case((70e9, 14, 64, 10e9, 10e9)),
        Case((70e9, 14, 64, 1e9, 100e9)),
        Case((405_853_388_800, 14, 16_384, 2e9, 2e12)),  # the storage of Llama 3.1 405B, sustained
        Case((405_853_388_800, 12, 16_384, 2e9, 2e12)),
    ),
    groups=(
        listed(
            "many writers",
            lambda rng: [_written(rng, slower) for slower in ("links", "storage", "one link") * 2],
            "The slower of two: all links together, or the storage that they share.",
        ),
        Group("one writer", _one_writer, 2, "One link, one storage."),
    ),
    slips=CHECKPOINT_WRITE_TIME,
)

# --- checkpoint_waste


def _wasted(rng: Random) -> Case:
    mtbf = _log(rng, 3600, 1e6)
    return Case((mtbf * rng.uniform(0.02, 0.6), mtbf * rng.uniform(0.002, 0.1), mtbf, mtbf * rng.uniform(0.005, 0.1)))


def _no_restart(rng: Random) -> Case:
    mtbf = _log(rng, 600, 1e6)
    return Case((mtbf * rng.uniform(0.01, 2), mtbf * rng.uniform(0.001, 0.5), mtbf))


def _hopeless(rng: Random) -> Case:
    """Intervals, checkpoints or restarts of many MTBFs."""
    mtbf = _log(rng, 1, 60)
    return Case(tuple(mtbf * x for x in rng.choice(((5, 1, 1, 1), (1, 8, 1, 0.5), (1, 0.1, 1, 12)))))


def _beyond_floats(rng: Random) -> list[Case]:
    mtbf = _log(rng, 1, 60)
    return [Case((mtbf * rng.uniform(800, 5000), mtbf, mtbf)), Case((mtbf, mtbf, mtbf, mtbf * rng.uniform(800, 5000)))]


def _free_checkpoint(rng: Random) -> Case:
    mtbf = _log(rng, 600, 1e5)
    return Case((mtbf * rng.uniform(0.05, 1), 0, mtbf, mtbf * rng.uniform(0, 0.2)))


WASTE = Build(
    id="cap-checkpoint-waste",
    module="checkpointing",
    function="checkpoint_waste",
    grade="call",
    section="15.21",
    bonus=True,
    topic="waste of an interval",
    cases=(
        Case((4115.142768, 98, 86_400)),
        Case((4115.142768, 98, 86_400, 120)),
        Case((3600, 300, 21_600, 600)),
        Case((2500, 1800, 3600)),
        Case((1116.29, 60, 11_135.0835, 300)),  # one failure every 54 * 24 / 419 hours: Llama 3.1 405B
        Case((3600, 2.84097, 11_135.0835, 300)),
        Case((600, 60, 1e7)),
    ),
    groups=(
        Group("intervals", _wasted, 7, "1 minus useful over expected wall-clock, restarts and all."),
        Group("no restart", _no_restart, 4, "restart_time may be left out."),
        Group(
            "many failures",
            _hopeless,
            6,
            "Where failures come faster than checkpoints, the waste is nearly 1.",
            _beyond_floats,
        ),
        Group("free checkpoints", _free_checkpoint, 2, "A checkpoint may cost nothing; work is still done again."),
    ),
    slips=CHECKPOINT_WASTE,
)

# --- debug_interval


def wrong_interval(checkpoint_seconds, mtbf_hours):
    import math

    return math.sqrt(2 * checkpoint_seconds * mtbf_hours) * 60


def _two_units(rng: Random) -> Case:
    return Case((_log(rng, 1, 600), _log(rng, 0.5, 500)))


DEBUG_INTERVAL = Debug(
    id="cap-debug-interval",
    module="checkpointing",
    function="debug_interval",
    grade="call",
    section="15.21",
    bonus=True,
    topic="one unit under the root",
    cases=(Case((98, 24)), Case((60, 3.0930787)), Case((300, 24.0))),
    groups=(Group("two units", _two_units, 6, "Convert both to one unit first, and the result to minutes last."),),
    slips=(
        Slip("That mixes units. Convert both times to seconds first, and the result to minutes last.", wrong_interval),
        Slip(
            "The root is in seconds now: divide by 60 to get minutes, do not multiply.",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * checkpoint_seconds * mtbf_hours * 3600) * 60",
            ),
        ),
        Slip(
            "An hour has 3,600 seconds, and the root takes both times in one unit.",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * checkpoint_seconds * mtbf_hours * 60)",
            ),
        ),
        Slip(
            "That is the interval in hours.",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * checkpoint_seconds / 3600 * mtbf_hours)",
            ),
        ),
        Slip(
            "The root is in hours now: multiply by 60 to get minutes, do not divide.",
            edit=("2 * checkpoint_seconds * (mtbf_hours * 3600)", "2 * checkpoint_seconds / 3600 * mtbf_hours"),
        ),
    ),
    wrong=wrong_interval,
)

# --- failure_cost


def _struck(rng: Random) -> Case:
    mtbf = _log(rng, 3600, 1e6)
    times = mtbf * rng.uniform(0.05, 1), mtbf * rng.uniform(0.005, 0.1), mtbf, mtbf * rng.uniform(0.01, 0.2)
    return Case((*times, rng.randint(2, 20_000), rng.choice((0.5, 2, 2.75, 12))))


def _long_segments(rng: Random) -> Case:
    mtbf = _log(rng, 60, 3600)
    return Case((mtbf * rng.uniform(3, 600), mtbf, mtbf, rng.uniform(1, 900), rng.randint(2, 2000), 2))


COST = Build(
    id="cap-failure-cost",
    module="checkpointing",
    function="failure_cost",
    grade="call",
    section="15.22",
    topic="cost of a failure",
    bonus=True,
    cases=(
        Case((4115.142768, 98, 86_400, 120, 512, 2)),
        Case((249.6428, 2.840974, 11_135.0835, 600, 16_384, 2)),
        Case((1116.2915, 60, 11_135.0835, 600, 16_384, 2)),
    ),
    groups=(
        Group("one failure", _struck, 6, "The expected time since the last checkpoint, and the restart, on all GPUs."),
        Group("long segments", _long_segments, 3, "Segments longer than the MTBF: the loss nears the MTBF."),
    ),
    slips=FAILURE_COST,
)
