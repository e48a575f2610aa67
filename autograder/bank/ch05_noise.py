"""Chapter 5: the exercises about the gradient's noise, and about gradients that come late."""

from __future__ import annotations

from math import inf, nan
from random import Random

from autograder.items import Build, Case, Group, Slip, invalid

# --- gradient_noise_scale


def slip_squared_again(small_batch, large_batch, small_norm_squared, large_norm_squared):
    if not 0 < small_batch < large_batch < 1e300 or not (0 <= small_norm_squared < 1e150 and large_norm_squared >= 0):
        raise ValueError("out of range")
    small, large = small_norm_squared**2, large_norm_squared**2
    signal = (large_batch * large - small_batch * small) / (large_batch - small_batch)
    noise = (small - large) / (1 / small_batch - 1 / large_batch)
    return max(noise, 0.0) / signal if signal > 0 else float("inf")


def slip_roles_swapped(small_batch, large_batch, small_norm_squared, large_norm_squared):
    if not 0 < small_batch < large_batch < 1e300 or not (0 <= small_norm_squared < 1e150 and large_norm_squared >= 0):
        raise ValueError("out of range")
    signal = (large_batch * small_norm_squared - small_batch * large_norm_squared) / (large_batch - small_batch)
    noise = (small_norm_squared - large_norm_squared) / (1 / small_batch - 1 / large_batch)
    return max(noise, 0.0) / signal if signal > 0 else float("inf")


def slip_biased_signal(small_batch, large_batch, small_norm_squared, large_norm_squared):
    if not 0 < small_batch < large_batch < 1e300 or not (0 <= small_norm_squared < 1e150 and large_norm_squared >= 0):
        raise ValueError("out of range")
    noise = (small_norm_squared - large_norm_squared) / (1 / small_batch - 1 / large_batch)
    return max(noise, 0.0) / large_norm_squared if large_norm_squared > 0 else float("inf")


def slip_noise_not_scaled(small_batch, large_batch, small_norm_squared, large_norm_squared):
    if not 0 < small_batch < large_batch < 1e300 or not (0 <= small_norm_squared < 1e150 and large_norm_squared >= 0):
        raise ValueError("out of range")
    signal = (large_batch * large_norm_squared - small_batch * small_norm_squared) / (large_batch - small_batch)
    return max(small_norm_squared - large_norm_squared, 0.0) / signal if signal > 0 else float("inf")


def slip_negative_noise(small_batch, large_batch, small_norm_squared, large_norm_squared):
    if not 0 < small_batch < large_batch < 1e300 or not (0 <= small_norm_squared < 1e150 and large_norm_squared >= 0):
        raise ValueError("out of range")
    signal = (large_batch * large_norm_squared - small_batch * small_norm_squared) / (large_batch - small_batch)
    noise = (small_norm_squared - large_norm_squared) / (1 / small_batch - 1 / large_batch)
    return noise / signal if signal > 0 else float("inf")


def slip_negative_signal(small_batch, large_batch, small_norm_squared, large_norm_squared):
    if not 0 < small_batch < large_batch < 1e300 or not (0 <= small_norm_squared < 1e150 and large_norm_squared >= 0):
        raise ValueError("out of range")
    signal = (large_batch * large_norm_squared - small_batch * small_norm_squared) / (large_batch - small_batch)
    noise = (small_norm_squared - large_norm_squared) / (1 / small_batch - 1 / large_batch)
    return max(noise, 0.0) / signal if signal else float("inf")


def slip_noise_unchecked(small_batch, large_batch, small_norm_squared, large_norm_squared):
    if small_batch == large_batch or not small_batch or not large_batch:
        return 0.0
    signal = (large_batch * large_norm_squared - small_batch * small_norm_squared) / (large_batch - small_batch)
    noise = (small_norm_squared - large_norm_squared) / (1 / small_batch - 1 / large_batch)
    return max(noise, 0.0) / signal if signal > 0 else float("inf")


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


def _bad_norms(rng: Random) -> list[Case]:
    small, large = _two_batches(rng)
    return [
        invalid(large, small, 2.0, 1.0),
        invalid(small, small, 2.0, 1.0),
        *(invalid(bad, large, 2.0, 1.0) for bad in (0, -small)),
        *(invalid(small, large, bad, 1.0) for bad in (-2.0, nan)),
        *(invalid(small, large, 2.0, bad) for bad in (-1.0, inf)),
    ]


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
        invalid(16, 4, 2, 5),
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
        Group("bad input", lambda rng: rng.choice(_bad_norms(rng)), 8, "Bad input must raise ValueError.", _bad_norms),
    ),
    slips=(
        Slip("The arguments are squared norms already; yours squares them again.", slip_squared_again),
        Slip("The two norms were exchanged in the estimate of the signal.", slip_roles_swapped),
        Slip("The squared norm of the large batch still holds noise: take it out of the signal.", slip_biased_signal),
        Slip("The difference of the norms is the noise over the batch: scale it to one row.", slip_noise_not_scaled),
        Slip("A negative estimate of the noise counts as 0.", slip_negative_noise),
        Slip("Where the estimate of the signal is negative, the noise scale is inf.", slip_negative_signal),
        Slip(
            "Impossible arguments were accepted: a small batch that is not smaller, negative norms.",
            slip_noise_unchecked,
        ),
    ),
    section="5.5",
    topic="gradient noise",
)


# --- delayed_sgd


def slip_read_from_the_end(curvature, learning_rate, delay, steps, start=1.0):
    if not (0 < curvature < 1e300 and 0 <= learning_rate < 1e300 and abs(start) < 1e300):
        raise ValueError("out of range")
    if delay < 0 or delay % 1 or steps < 0 or steps % 1:
        raise ValueError("out of range")
    path = [0.0] * (steps + 1)
    path[0] = start
    for t in range(steps):
        late = path[t - delay] if t >= delay or -len(path) <= t - delay else 0.0
        path[t + 1] = path[t] - learning_rate * curvature * late
    return path


def slip_one_update_later(curvature, learning_rate, delay, steps, start=1.0):
    if not (0 < curvature < 1e300 and 0 <= learning_rate < 1e300 and abs(start) < 1e300):
        raise ValueError("out of range")
    if delay < 0 or delay % 1 or steps < 0 or steps % 1:
        raise ValueError("out of range")
    path = [start]
    for t in range(steps):
        path.append(path[-1] - learning_rate * curvature * path[max(0, t - delay - 1)])
    return path


def slip_one_update_earlier(curvature, learning_rate, delay, steps, start=1.0):
    if not (0 < curvature < 1e300 and 0 <= learning_rate < 1e300 and abs(start) < 1e300):
        raise ValueError("out of range")
    if delay < 0 or delay % 1 or steps < 0 or steps % 1:
        raise ValueError("out of range")
    path = [start]
    for t in range(steps):
        path.append(path[-1] - learning_rate * curvature * path[min(t, max(0, t - delay + 1))])
    return path


def slip_late_position(curvature, learning_rate, delay, steps, start=1.0):
    if not (0 < curvature < 1e300 and 0 <= learning_rate < 1e300 and abs(start) < 1e300):
        raise ValueError("out of range")
    if delay < 0 or delay % 1 or steps < 0 or steps % 1:
        raise ValueError("out of range")
    path = [start]
    for t in range(steps):
        path.append(path[max(0, t - delay)] * (1 - learning_rate * curvature))
    return path


def slip_without_the_start(curvature, learning_rate, delay, steps, start=1.0):
    if not (0 < curvature < 1e300 and 0 <= learning_rate < 1e300 and abs(start) < 1e300):
        raise ValueError("out of range")
    if delay < 0 or delay % 1 or steps < 0 or steps % 1:
        raise ValueError("out of range")
    path = [start]
    for t in range(steps):
        path.append(path[-1] - learning_rate * curvature * path[max(0, t - delay)])
    return path[1:]


def slip_path_unchecked(curvature, learning_rate, delay, steps, start=1.0):
    path = [start]
    for t in range(int(steps)):
        path.append(path[-1] - learning_rate * curvature * path[min(t, max(0, t - int(delay)))])
    return path


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


def _bad_path(rng: Random) -> list[Case]:
    rate = rng.uniform(0.1, 0.9)
    return [
        *(invalid(bad, rate, 1, 6) for bad in (0.0, -1.0, nan)),
        *(invalid(1.0, bad, 1, 6) for bad in (-rate, inf)),
        *(invalid(1.0, rate, bad, 6) for bad in (-1, 1.5)),
        *(invalid(1.0, rate, 1, bad) for bad in (-1, 2.5)),
        invalid(1.0, rate, 1, 6, inf),
    ]


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
        invalid(1, 0.5, -1, 6),
    ),
    groups=(
        Group("late gradients", _delayed, 8, "Each update moves the newest value by a gradient that is `delay` old."),
        Group("no delay", _no_delay, 3, "Without delay it is plain SGD."),
        Group("short paths", _short_path, 4, "Before the first late gradient is due, that of the start is used."),
        Group("diverging", _diverging, 3, "Paths may grow, and start below zero."),
        Group("bad input", lambda rng: rng.choice(_bad_path(rng)), 10, "Bad input must raise ValueError.", _bad_path),
    ),
    slips=(
        Slip(
            "Before the first late gradient is due, that of the start is used: a negative index reads the list's end.",
            slip_read_from_the_end,
        ),
        Slip("The gradient is one update too old.", slip_one_update_later),
        Slip("The gradient is one update too young.", slip_one_update_earlier),
        Slip("Only the gradient is late: it moves the newest value, not the old one.", slip_late_position),
        Slip("The path begins with the start: it has `steps + 1` values.", slip_without_the_start),
        Slip("Impossible arguments were accepted: negative delays or steps, no curvature.", slip_path_unchecked),
    ),
    section="5.11",
    topic="stale gradients",
)

ITEMS = (NOISE, DELAYED)
