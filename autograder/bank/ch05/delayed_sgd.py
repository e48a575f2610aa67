"""Chapter 5: ``delayed_sgd``, stale gradients."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


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


def path_by_recursion(curvature, learning_rate, delay, steps, start=1.0):
    """The same path as factors of the start, multiplied at the end."""
    rate, factors = curvature * learning_rate, [1.0]
    while len(factors) <= steps:
        late = factors[max(0, len(factors) - 1 - delay)]
        factors.append(factors[-1] - rate * late)
    return [factor * start for factor in factors]


EXERCISE = Build(
    "05 batching.delayed_sgd",
    section="5.17",
    topic="stale gradients",
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
            "Before the first late gradient is due, that of the start is used: no update is left out.",
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
    rights=(
        Right("factors of the start", program=path_by_recursion),
        Right(
            "one rate, a running position",
            edit=(
                "path[-1] - learning_rate * curvature * path[max(0, step - delay)]",
                "path[-1] - learning_rate * (curvature * path[max(0, step - delay)])",
            ),
        ),
    ),
    promises=(
        Promise(
            "until the first delayed gradient arrives, the gradient at the start is used",
            edit=("path[max(0, step - delay)]", "path[max(0, step - delay)] * (step >= delay)"),
        ),
        Promise("0 is plain SGD", edit=("path[max(0, step - delay)]", "path[max(0, step - max(1, delay))]")),
    ),
)
