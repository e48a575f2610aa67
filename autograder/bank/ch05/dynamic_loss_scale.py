"""Chapter 5: ``dynamic_loss_scale``, dynamic loss scaling."""

from __future__ import annotations

from random import Random

from autograder.bank.ch05.shared import BACKOFFS, GROWTHS, draw_rules
from autograder.items import Build, Case, Group, Iterator, Promise, Right, Slip


def _flags(rng: Random, rates: tuple[float, ...] = (0.0, 0.02, 0.3, 0.9), most: int = 300) -> list[int]:
    rate, longest = rng.choice(rates), rng.choice((12, 40, most))
    return [int(rng.random() < rate) for _ in range(rng.randint(0, longest))]


def _start(rng: Random) -> float:
    return rng.choice((1e-3, 3.0, 12.5, 1000.0, 65536.0, float(f"{10 ** rng.uniform(-3, 30):.3g}")))


def _steps(rng: Random) -> Case:
    return Case((_flags(rng), _start(rng), *draw_rules(rng)))


def _step_corners(rng: Random) -> list[Case]:
    k, start = rng.choice((3, 5, 7)), rng.choice((3.0, 1000.0))
    growth, backoff = rng.choice(GROWTHS), rng.choice(BACKOFFS)
    rows: tuple[list[int], ...] = (
        [0] * k,
        [0] * (k + 1),
        [0] * (k - 2) + [1] + [0] * (k - 1),
        [0] * (k - 1) + [1] + [0] * k,
        [1] + [0] * (k - 1),
        [1, 1, 1],
        [0] * (3 * k),
        [],
    )
    defaults = [Case(([1, 0, 1], 3.0)), Case(([0] * k, start, k)), Case(([True, False],))]
    return [Case((row, start, k, growth, backoff)) for row in rows] + defaults


def _floored(rng: Random) -> Case:
    start = rng.choice((1.0, 3.0, 12.5, 1000.0))
    floor = rng.choice((1.0, start, start / 4))
    return Case((_flags(rng, (0.3, 0.9), 40), start, *draw_rules(rng)), {"min_scale": min(floor, start)})


def _near_the_top(rng: Random) -> Case:
    return Case((_flags(rng, (0.0, 0.1), 30), rng.choice((1e37, 1e38, 3e38)), *draw_rules(rng)))


def _iterator(rng: Random) -> Case:
    return Case((Iterator(tuple(_flags(rng, (0.02, 0.3), 60))), _start(rng), *draw_rules(rng)))


EXERCISE = Build(
    "05 precision.dynamic_loss_scale",
    section="5.16",
    topic="dynamic loss scaling",
    bonus=True,
    tolerance=1e-5,
    cases=(
        Case(([0, 1, 0, 1, 0],)),
        *(Case((flags,)) for flags in ([], [0] * 1999, [0] * 2000, [0] * 6000, [1] + [0] * 2000)),
        Case(([0] * 8,), {"growth_interval": 4}),
        Case(([0, 0, 1, 0, 0, 0], 3.0, 3)),
        Case(([0] * 6, 1000.0, 3, 1.5, 0.3)),
        Case(([0] * 3 + [1] + [0] * 3, 1000.0, 3, 1.5, 0.3)),
        Case(([1] * 5, 3.0, 10), {"min_scale": 1.0}),
        Case(([0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0], 12.0, 2, 3.0, 0.25, 0.5)),
        Case(([0] * 4, 1e38, 1)),
        Case(([0, 1] * 6, 100.0, 2)),
        Case((Iterator((0, 1, 0)),)),
    ),
    groups=(
        Group(
            "runs of steps",
            _steps,
            15,
            "Go through a short run by hand: when does the count start again, and at which step does it grow?",
            corners=_step_corners,
        ),
        Group(
            "a floor",
            _floored,
            5,
            "No overflow takes the scale below `min_scale`.",
            corners=lambda rng: [Case(([1] * rng.randint(4, 9), 3.0, 10), {"min_scale": 1.0})],
        ),
        Group(
            "the top of float32",
            _near_the_top,
            5,
            "The scale does not grow beyond the largest finite float32.",
            corners=lambda rng: [Case(([0] * rng.randint(4, 9), 1e38, 1)), Case(([0] * rng.randint(2, 6), 3e38, 2))],
        ),
        Group("flags that come once", _iterator, 3, "`overflows` may be an iterator: walk through it once."),
    ),
    slips=(
        Slip(
            "An overflow sets the count of clean steps back to 0; yours counts on.",
            edit=(
                "scale, clean_steps = max(scale * backoff_factor, min_scale), 0",
                "scale = max(scale * backoff_factor, min_scale)",
            ),
        ),
        Slip(
            "Growth sets the count of clean steps back to 0; yours grows at every step from then on.",
            edits=(
                ("            clean_steps = 0\n            if scale", "            if scale"),
                ("clean_steps == growth_interval", "clean_steps >= growth_interval"),
            ),
        ),
        Slip(
            "The scale grows at the step that completes the interval; yours grows one step late.",
            edit=("clean_steps == growth_interval", "clean_steps > growth_interval"),
        ),
        Slip(
            "What counts is clean steps in a row; yours grows at every interval-th step of the run.",
            edits=(
                ("for overflow in overflows:", "for step, overflow in enumerate(overflows, 1):"),
                ("if clean_steps == growth_interval:", "if step % growth_interval == 0:"),
            ),
        ),
        Slip(
            "The scale is no power of two in general: `//` cuts it down to an integer (3 becomes 1).",
            edit=("scale * backoff_factor", "scale // (1 / backoff_factor)"),
        ),
        Slip(
            "The floor holds at every overflow, not only at the start.",
            edit=("max(scale * backoff_factor, min_scale)", "scale * backoff_factor"),
        ),
        Slip(
            "The scale of a real run is a float32: do not grow beyond its largest finite number.",
            edit=(
                "            if scale * growth_factor <= FLOAT32_MAX:\n                scale *=",
                "            scale *=",
            ),
        ),
        Slip(
            "Every overflow backs off, also when the step before has overflowed.",
            edits=(
                (
                    "scale, clean_steps = float(init_scale), 0",
                    "scale, clean_steps, before = float(init_scale), 0, False",
                ),
                (
                    "scale, clean_steps = max(scale * backoff_factor, min_scale), 0\n            continue",
                    "scale, clean_steps = scale if before else max(scale * backoff_factor, min_scale), 0\n"
                    "            before = True\n"
                    "            continue\n"
                    "        before = False",
                ),
            ),
        ),
    ),
    rights=(
        Right(
            "clean steps counted down",
            edits=(
                ("scale, clean_steps = float(init_scale), 0", "scale, clean_steps = init_scale * 1.0, growth_interval"),
                (
                    "max(scale * backoff_factor, min_scale), 0",
                    "max(backoff_factor * scale, min_scale), growth_interval",
                ),
                ("        clean_steps += 1\n", "        clean_steps -= 1\n"),
                ("if clean_steps == growth_interval:", "if not clean_steps:"),
                ("            clean_steps = 0\n", "            clean_steps = growth_interval\n"),
            ),
        ),
        Right(
            "division by the reciprocals",
            edits=(
                ("max(scale * backoff_factor, min_scale)", "max(scale / (1 / backoff_factor), min_scale)"),
                ("                scale *= growth_factor\n", "                scale = scale / (1 / growth_factor)\n"),
            ),
        ),
    ),
    promises=(
        Promise(
            "one flag per step, true when a gradient was inf or nan",
            why="it says what the flags mean, and the function sees no gradient",
        ),
        Promise(
            "any iterable, walked through once",
            edit=("for overflow in overflows:", "for overflow in [*overflows][: len([*overflows])]:"),
        ),
        Promise(
            "but not below ``min_scale``",
            edit=("max(scale * backoff_factor, min_scale)", "scale * backoff_factor"),
        ),
        Promise(
            "it stays where that would be more than the largest finite float32",
            edit=(
                "            if scale * growth_factor <= FLOAT32_MAX:\n                scale *= growth_factor\n",
                "            scale = min(scale * growth_factor, FLOAT32_MAX)\n",
            ),
        ),
        Promise(
            "``init_scale`` when there is no step",
            edit=("    return scale\n", "    return scale if overflows else 0.0\n"),
        ),
        Promise(
            "It need not be a power of two",
            edit=(
                "scale, clean_steps = float(init_scale), 0",
                "scale, clean_steps = 2.0 ** round(math.log2(init_scale)), 0",
            ),
        ),
    ),
)
