"""Chapter 5: the exercises about the gradient's noise, and about gradients that come late."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip


def _two_batches(rng: Random) -> tuple[int, int]:
    small = rng.randint(1, 64)
    return small, small * rng.choice((2, 3, 4, 8, 64))


def _measured(rng: Random) -> Case:
    """Squared norms as they are in the mean, for some signal and noise."""
    small, large = _two_batches(rng)
    signal = 10 ** rng.uniform(-2, 1)
    noise = signal * small * rng.uniform(0.5, 50)
    return Case((small, large, signal + noise / small, signal + noise / large))


def _no_noise(rng: Random) -> Case:
    """The large batch's norm is the larger one, by chance, or they are equal."""
    small, large = _two_batches(rng)
    norm = 10 ** rng.uniform(-2, 2)
    return Case((small, large, norm, norm * rng.uniform(1.01, 1.5)))


def _no_signal(rng: Random) -> Case:
    small, large = _two_batches(rng)
    norm = 10 ** rng.uniform(-2, 2)
    return Case((small, large, norm, norm * small / large * rng.uniform(0.3, 0.9)))


NOISE = Build(
    id="05-gradient-noise-scale",
    module="batching",
    function="gradient_noise_scale",
    grade="call",
    bonus=True,
    cases=(
        Case((32, 256, 5, 1.5)),
        Case((4, 16, 5, 2)),
        Case((8, 64, 0.04, 0.03)),
        Case((4, 16, 2, 2)),
        Case((4, 16, 8, 2)),
    ),
    groups=(
        Group(
            "two batches",
            _measured,
            8,
            "Two equations, signal plus noise over the batch, and two unknowns. The arguments are squared norms.",
        ),
        Group("no noise", _no_noise, 4, "When the larger batch has the larger norm, the noise is taken to be 0."),
        Group(
            "no signal",
            _no_signal,
            4,
            "When the estimate of the signal is not positive, the noise scale is inf.",
            lambda _rng: [Case((2, 8, 4.0, 1.0))],
        ),
    ),
    slips=(
        Slip(
            "The arguments are squared norms already; yours squares them again.",
            edit=(
                "signal = (large_batch",
                "small_norm_squared, large_norm_squared = small_norm_squared**2, large_norm_squared**2\n"
                "    signal = (large_batch",
            ),
        ),
        Slip(
            "The two norms are swapped in the estimate of the signal.",
            edits=(
                ("large_batch * large_norm_squared", "large_batch * small_norm_squared"),
                ("small_batch * small_norm_squared", "small_batch * large_norm_squared"),
            ),
        ),
        Slip(
            "The squared norm of the large batch still holds noise: take it out of the signal.",
            edits=(
                ("max(noise, 0.0) / signal", "max(noise, 0.0) / large_norm_squared"),
                ("signal > 0", "large_norm_squared > 0"),
            ),
        ),
        Slip(
            "The difference of the norms is the noise over the batch: scale it to one row.",
            edit=("max(noise, 0.0)", "max(small_norm_squared - large_norm_squared, 0.0)"),
        ),
        Slip("A negative estimate of the noise counts as 0.", edit=("max(noise, 0.0)", "noise")),
        Slip("Where the estimate of the signal is negative, the noise scale is inf.", edit=("signal > 0", "signal")),
    ),
    section="5.12",
    topic="gradient noise",
)


def _delayed(rng: Random) -> Case:
    """A stable path: the rate is below the limit of its delay."""
    delay, curvature = rng.randint(1, 7), rng.uniform(0.2, 3)
    rate = rng.uniform(0.3, 0.9) / curvature / (delay + 1)
    return Case((curvature, rate, delay, rng.randint(2 * delay + 2, 30), rng.uniform(0.5, 4)))


def _no_delay(rng: Random) -> Case:
    return Case((rng.uniform(0.5, 2), rng.uniform(0.1, 0.9), 0, rng.randint(1, 20)))


def _short_path(rng: Random) -> Case:
    delay = rng.randint(1, 6)
    return Case((1.0, rng.uniform(0.1, 0.5), delay, rng.randint(0, delay)))


def _diverging(rng: Random) -> Case:
    return Case((1.0, rng.uniform(1.1, 1.9), rng.randint(1, 4), rng.randint(6, 20), -rng.uniform(0.5, 2)))


DELAYED = Build(
    id="05-delayed-sgd",
    module="batching",
    function="delayed_sgd",
    grade="call",
    bonus=True,
    cases=(
        Case((1, 0.5, 1, 6)),
        Case((1, 0.5, 2, 6)),
        Case((1, 0.5, 0, 4)),
        Case((2.0, 0.25, 3, 4, 8.0)),
        Case((1, 0.5, 1, 0)),
    ),
    groups=(
        Group("late gradients", _delayed, 8, "Each update moves the newest value by a gradient that is `delay` old."),
        Group("no delay", _no_delay, 3, "Without delay it is plain SGD."),
        Group("short paths", _short_path, 4, "Before the first late gradient is due, that of the start is used."),
        Group("diverging", _diverging, 3, "Paths may grow, and start below zero."),
    ),
    slips=(
        Slip(
            "Before the first late gradient is due, that of the start is used: a negative index reads the list's end.",
            edits=(
                ("path = [float(start)]", "path = [float(start)] + [0.0] * steps"),
                (
                    "path.append(path[-1] - learning_rate * curvature * path[max(0, step - delay)])",
                    "late = path[step - delay] if step - delay >= -len(path) else 0.0\n"
                    "        path[step + 1] = path[step] - learning_rate * curvature * late",
                ),
            ),
        ),
        Slip("The gradient is one update too old.", edit=("step - delay", "step - delay - 1")),
        Slip(
            "The gradient is one update too young.",
            edit=("max(0, step - delay)", "min(step, max(0, step - delay + 1))"),
        ),
        Slip(
            "Only the gradient is late: it moves the newest value, not the old one.",
            edit=(
                "path[-1] - learning_rate * curvature * path[max(0, step - delay)]",
                "path[max(0, step - delay)] * (1 - learning_rate * curvature)",
            ),
        ),
        Slip("The path begins with the start: it has `steps + 1` values.", edit=("return path", "return path[1:]")),
    ),
    section="5.17",
    topic="stale gradients",
)

ITEMS = (NOISE, DELAYED)
