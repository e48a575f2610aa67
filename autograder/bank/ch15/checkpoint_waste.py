"""The capstone: ``checkpoint_waste``, waste of an interval."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch15.shared import log
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _wasted(rng: Random) -> Case:
    mtbf = log(rng, 3600, 1e6)
    return Case((mtbf * rng.uniform(0.02, 0.6), mtbf * rng.uniform(0.002, 0.1), mtbf, mtbf * rng.uniform(0.005, 0.1)))


def _no_restart(rng: Random) -> Case:
    mtbf = log(rng, 600, 1e6)
    return Case((mtbf * rng.uniform(0.01, 2), mtbf * rng.uniform(0.001, 0.5), mtbf))


def _hopeless(rng: Random) -> Case:
    """Intervals, checkpoints or restarts of many MTBFs."""
    mtbf = log(rng, 1, 60)
    return Case(tuple(mtbf * x for x in rng.choice(((5, 1, 1, 1), (1, 8, 1, 0.5), (1, 0.1, 1, 12)))))


def _beyond_floats(rng: Random) -> list[Case]:
    mtbf = log(rng, 1, 60)
    return [Case((mtbf * rng.uniform(800, 5000), mtbf, mtbf)), Case((mtbf, mtbf, mtbf, mtbf * rng.uniform(800, 5000)))]


def _free_checkpoint(rng: Random) -> Case:
    mtbf = log(rng, 600, 1e5)
    return Case((mtbf * rng.uniform(0.05, 1), 0, mtbf, mtbf * rng.uniform(0, 0.2)))


def waste_in_logarithms(interval, checkpoint_time, mtbf, restart_time=0.0):
    """The share that is useful, as one exponential of a negative number."""
    from solutions.ch15.checkpointing import checkpoint_waste

    checkpoint_waste(interval, checkpoint_time, mtbf, restart_time)
    period = (interval + checkpoint_time) / mtbf
    useful = (interval / mtbf) * math.exp(-period - restart_time / mtbf) / -math.expm1(-period)
    return 1 - useful


EXERCISE = Build(
    "cap checkpointing.checkpoint_waste",
    section="15.21",
    topic="waste of an interval",
    bonus=True,
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
            "Where failures come faster than checkpoints or restarts can end, the waste is nearly 1.",
            _beyond_floats,
        ),
        Group("free checkpoints", _free_checkpoint, 2, "A checkpoint may cost nothing; work is still done again."),
    ),
    slips=(
        Slip(
            "C/t + t/(2M) + R/M is the first order: it can pass 1, and a share cannot.",
            edit=(
                "    try:\n",
                "    return checkpoint_time / interval + interval / (2 * mtbf) + restart_time / mtbf\n    try:\n",
            ),
        ),
        Slip(
            "That is the writing alone: work is lost and done again, too.",
            edit=("    try:\n", "    return checkpoint_time / (interval + checkpoint_time)\n    try:\n"),
        ),
        Slip(
            "A failure loses half an interval on average, not a whole one.",
            edit=(
                "    try:\n",
                "    overhead = checkpoint_time / interval + (interval + checkpoint_time + restart_time) / mtbf\n"
                "    return overhead / (1 + overhead)\n"
                "    try:\n",
            ),
        ),
        Slip(
            "That is the overhead, idle over useful; the waste is idle over all.",
            edit=("return 1 - 1 / max(1.0, wall)", "return wall - 1"),
        ),
        Slip(
            "A restart follows a failure, not every checkpoint.",
            edit=(
                "math.exp(restart_time / mtbf) * math.expm1((interval + checkpoint_time)",
                "math.expm1((interval + checkpoint_time + restart_time)",
            ),
        ),
        Slip(
            "Restarts are missing: they multiply the wall-clock by exp(R/M).",
            edit=("math.exp(restart_time / mtbf) * math.expm1", "math.expm1"),
        ),
        Slip(
            "A failure may strike during a checkpoint, too, so the exponent has t + C.",
            edit=(
                "(interval + checkpoint_time) / mtbf) * mtbf / interval",
                "interval / mtbf) * mtbf / interval + checkpoint_time / interval",
            ),
        ),
        Slip(
            "Where the exponential leaves the range of floats, the waste is 1.0.",
            edit=("    except OverflowError:\n        return 1.0", "    finally:\n        pass"),
        ),
    ),
    rights=(
        Right("one exponential of a negative number", program=waste_in_logarithms),
        Right(
            "one minus the inverse, factor by factor",
            edit=(
                "return 1 - 1 / max(1.0, wall)",
                "return (wall - 1) / wall if 1 < wall < math.inf else float(wall > 1)",
            ),
        ),
    ),
    promises=(
        Promise(
            "Failures come at random (exponential), also during a checkpoint and a restart",
            edit=(
                ("math.exp(restart_time / mtbf) * math.expm1((interval + checkpoint_time) / mtbf) * mtbf / interval"),
                (
                    "math.exp(restart_time / mtbf) * math.expm1(interval / mtbf) * mtbf / interval\n"
                    "        wall += checkpoint_time / interval"
                ),
            ),
        ),
        Promise(
            "Failures come at random (exponential), also during a checkpoint and a restart",
            edit=("math.exp(restart_time / mtbf)", "(1 + restart_time / mtbf)"),
        ),
        Promise(
            "1.0 where the exponential leaves the range of floats",
            edit=(("    except OverflowError:\n        return 1.0"), ("    finally:\n        pass")),
        ),
    ),
)
