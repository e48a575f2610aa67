"""Chapter 10: ``device_seconds``, measuring a device."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import us


def _steady(rng: Random) -> Case:
    """Every call takes about as long, after a first one that takes far longer."""
    count = rng.randint(8, 16)
    launches = [rng.uniform(400, 800) * us, *(rng.uniform(5, 15) * us for _ in range(count))]
    kernels = [rng.uniform(2000, 4000) * us, *(rng.uniform(50, 90) * us for _ in range(count))]
    return Case((launches, kernels, rng.randint(1, 4), rng.randint(4, 11), 0.0))


def _uneven(rng: Random) -> Case:
    """One or two calls in the middle take ten times as long."""
    count = rng.randint(8, 14)
    kernels = [rng.uniform(50, 90) * us for _ in range(count)]
    for place in rng.sample(range(3, count), 2):
        kernels[place] *= 10
    return Case(([5 * us] * count, kernels, rng.randint(0, 2), count, 0.0))


def _busy(rng: Random) -> Case:
    """The device still has work when the measurement begins, and there are no warm-ups, or a slow one."""
    launches, kernels = [rng.uniform(5, 10) * us] * 3, [rng.uniform(500, 900) * us, 60 * us, 70 * us]
    return Case((launches, kernels, rng.randint(0, 1), rng.randint(1, 5), rng.uniform(2000, 3000) * us))


EXERCISE = Build(
    "10 measuring.device_seconds",
    section="10.19",
    topic="measuring a device",
    bonus=True,
    probe="ch10_loops.measured",
    tolerance=1e-3,
    cases=(
        Case(([900 * us, 10 * us], [3000 * us, 70 * us], 1, 5, 0.0)),
        Case(([10 * us] * 5, [70 * us, 70 * us, 700 * us, 70 * us, 80 * us], 0, 5, 0.0)),
    ),
    groups=(
        Group(
            "a slow first call", _steady, 6, "Warm up first; then time each call from an idle device to an idle one."
        ),
        Group("calls that were interrupted", _uneven, 5, "A few long calls move a mean, and not a median."),
        Group("a device that is busy", _busy, 4, "Whatever the device had to do before must be over when you start."),
    ),
    slips=(
        Slip(
            "A call returns when its kernels are launched, not when they have run: wait before you read the clock.",
            edit=("        work()\n        wait()\n", "        work()\n"),
        ),
        Slip(
            "What the device had to do before is timed as well: wait before the clock starts.",
            edit=("        wait()\n        start = clock()\n", "        start = clock()\n"),
        ),
        Slip(
            "The first call compiles, allocates or captures: run the warm-ups before you time anything.",
            edit=("for _ in range(warmups):", "for _ in range(0):"),
        ),
        Slip(
            "One interrupted call moves the mean of all; the median stays where it is.",
            edit=("return median(times)", "return sum(times) / len(times)"),
        ),
        Slip(
            "The shortest time is no typical one.",
            edit=("return median(times)", "return min(times)"),
        ),
    ),
    rights=(
        Right(
            "sorted by hand",
            edit=(
                "return median(times)",
                "times.sort()\n    half = len(times) // 2\n"
                "    return times[half] if len(times) % 2 else (times[half - 1] + times[half]) / 2",
            ),
        ),
        Right(
            "a wait after each warm-up",
            edit=(
                "    for _ in range(warmups):\n        work()\n",
                "    for _ in range(warmups):\n        work()\n        wait()\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "from a device that is idle to one that is idle again",
            edit=("        wait()\n        start = clock()\n", "        start = clock()\n"),
        ),
    ),
)
