"""Chapter 4: ``fit_alpha_beta``, fitting a link."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, us


def _measured(rng: Random, noise: float) -> Case:
    """Times of a link whose alpha * B lies among the sizes, each up to ``noise`` off."""
    latency, bandwidth = 10 ** rng.uniform(-6, -4), 10 ** rng.uniform(9, 11)
    half = latency * bandwidth
    sizes = [round(half * 10 ** (power + rng.uniform(-0.3, 0.3))) for power in range(-2, 4)]
    times = [(latency + size / bandwidth) * (1 + noise * rng.choice((-1, 1)) * rng.uniform(0.3, 1)) for size in sizes]
    return Case(args=(sizes, times))


def _noisy(rng: Random) -> Case:
    return _measured(rng, 0.1)


def _exact(rng: Random) -> Case:
    return _measured(rng, 0.0)


def _negative(rng: Random) -> Case:
    """Times on a line that meets the axis above size 0."""
    missing, bandwidth = 10 ** rng.uniform(-6, -4), 10 ** rng.uniform(9, 11)
    sizes = [missing * bandwidth * (2 + power + rng.uniform(0.3, 0.7)) for power in range(5)]
    return Case(args=(sizes, [size / bandwidth - missing for size in sizes]))


def _two_points(rng: Random) -> Case:
    small, large = rng.choice([0, rng.randint(1, 10**4)]), rng.randint(10**5, 10**8)
    time = 10 ** rng.uniform(-5, -4)
    return Case(args=([small, large], [time, time * rng.uniform(2, 100)]))


def fitted_by_least_squares(sizes, seconds):
    """Each row over its time, and a library's least squares."""
    import numpy as np

    scale = max(sizes)
    rows = np.array([[1 / time, size / scale / time] for size, time in zip(sizes, seconds, strict=True)])
    (latency, slope), *_ = np.linalg.lstsq(rows, np.ones(len(sizes)), rcond=None)
    return float(latency), float(scale / slope)


def fitted_in_fractions(sizes, seconds):
    """The normal equations, without rounding."""
    points = [(Fraction(size), Fraction(time)) for size, time in zip(sizes, seconds, strict=True)]
    w, wm, wmm = (sum(size**power / time**2 for size, time in points) for power in range(3))
    wt, wmt = (sum(size**power / time for size, time in points) for power in range(2))
    slope = (w * wmt - wm * wt) / (w * wmm - wm**2)
    return float((wt - slope * wm) / w), float(1 / slope)


EXERCISE = Build(
    "04 bandwidth.fit_alpha_beta",
    section="4.16",
    bonus=True,
    topic="fitting a link",
    tolerance=1e-7,  # ways to solve for two unknowns round differently
    cases=(
        Case(args=([10**power for power in range(3, 8)], [5 * us + 10**power / (50 * GB) for power in range(3, 8)])),
        Case(args=([1e3, 1e5, 4e5, 4e6, 4e7], [52 * us, 55 * us, 95 * us, 420 * us, 4100 * us])),
        Case(args=([0.0, 1e6], [10 * us, 30 * us])),
    ),
    groups=(
        Group("measured times", _noisy, 6, "Measured times scatter: weigh relative errors, not absolute ones."),
        Group("exact times", _exact, 3, "Times that lie on a line give back its latency and bandwidth."),
        Group("two sizes", _two_points, 3, "A line goes through any two points; a size may be 0."),
        Group("negative latencies", _negative, 3, "The line may meet the axis below 0: the latency is not cut there."),
    ),
    slips=(
        Slip(
            "Absolute errors were minimized: then the largest size decides alone. Divide by t.",
            edit=("[1 / time**2 for time in seconds]", "[1.0 for _ in seconds]"),
        ),
        Slip("The slope was returned: the bandwidth is its inverse.", edit=("middle, 1 / slope", "middle, slope")),
        Slip(
            "The line was forced through the origin: its height at size 0 is the latency.",
            edit=(
                "return typical - slope * middle, 1 / slope",
                (
                    "rates = [size / time for size, time in zip(sizes, seconds)]\n"
                    "    return 0.0, sum(rate**2 for rate in rates) / sum(rates)"
                ),
            ),
        ),
        Slip(
            "The first time was taken for the latency: it holds bytes, and its own error.",
            edits=(
                (
                    "_mean(weights, [(size - middle) * (time - typical) for size, time in pairs]) / spread",
                    "(seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])",
                ),
                ("typical - slope * middle", "seconds[0]"),
            ),
        ),
        Slip(
            "A latency below 0 was cut: the best line is asked for, wherever it meets the axis.",
            edit=("typical - slope * middle", "max(0.0, typical - slope * middle)"),
        ),
    ),
    rights=(
        Right("a library's least squares", program=fitted_by_least_squares),
        Right("normal equations without rounding", program=fitted_in_fractions),
    ),
    promises=(
        Promise(
            "The latency may come out negative.",
            edit=("typical - slope * middle", "max(0.0, typical - slope * middle)"),
        ),
        Promise(
            "sum of squared *relative* errors",
            edit=("[1 / time**2 for time in seconds]", "[1 / time for time in seconds]"),
        ),
    ),
)
