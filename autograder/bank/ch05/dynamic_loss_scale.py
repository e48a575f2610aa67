"""Chapter 5: ``dynamic_loss_scale``, dynamic loss scaling."""

from __future__ import annotations

from random import Random

from autograder.bank.ch05.shared import INTERVALS
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _flags(rng: Random, rates: tuple[float, ...] = (0.0, 0.02, 0.3, 0.9), most: int = 300) -> list[int]:
    rate, longest = rng.choice(rates), rng.choice((12, 40, most))
    return [int(rng.random() < rate) for _ in range(rng.randint(0, longest))]


def _start(rng: Random) -> float:
    return rng.choice((1e-3, 3.0, 12.5, 1000.0, 65536.0, float(f"{10 ** rng.uniform(-3, 9):.3g}")))


def _steps(rng: Random) -> Case:
    return Case((_flags(rng), _start(rng), rng.choice(INTERVALS)))


def _step_corners(rng: Random) -> list[Case]:
    k, start = rng.choice((3, 5, 7)), rng.choice((3.0, 1000.0))
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
    return [*(Case((row, start, k)) for row in rows), Case(([1, 0, 1], 3.0)), Case(([True, False],))]


def _long(rng: Random) -> Case:
    """Rare overflows, and the interval and the start that real runs have."""
    flags = [0] * rng.randint(4000, 7000)
    for _ in range(rng.randint(1, 3)):
        flags[rng.randrange(len(flags))] = 1
    return Case((flags,))


EXERCISE = Build(
    "05 precision.dynamic_loss_scale",
    section="5.8",
    topic="dynamic loss scaling",
    tolerance=1e-5,
    cases=(
        Case(([0, 1, 0, 1, 0],)),
        *(Case((flags,)) for flags in ([], [0] * 1999, [0] * 2000, [0] * 6000, [1] + [0] * 2000)),
        Case(([0] * 8,), {"growth_interval": 4}),
        Case(([0, 0, 1, 0, 0, 0], 3.0, 3)),
        Case(([0] * 3 + [1] + [0] * 3, 1000.0, 3)),
        Case(([0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0], 12.0, 2)),
        Case(([0, 1] * 6, 100.0, 2)),
    ),
    groups=(
        Group(
            "runs of steps",
            _steps,
            20,
            "Go through a short run by hand: when does the count start again, and at which step does it grow?",
            corners=_step_corners,
        ),
        Group("long runs", _long, 4, "Thousands of steps with two or three overflows, from 65,536 on."),
    ),
    slips=(
        Slip(
            "An overflow sets the count of clean steps back to 0; yours counts on.",
            edit=("scale, clean_steps = scale / 2, 0", "scale = scale / 2"),
        ),
        Slip(
            "Growth sets the count of clean steps back to 0; yours grows at every step from then on.",
            edit=(
                "if clean_steps == growth_interval:\n            scale, clean_steps = 2 * scale, 0",
                "if clean_steps >= growth_interval:\n            scale = 2 * scale",
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
            edit=("scale / 2", "scale // 2"),
        ),
        Slip(
            "Every overflow halves, also when the step before has overflowed.",
            edits=(
                (
                    "scale, clean_steps = float(init_scale), 0",
                    "scale, clean_steps, before = float(init_scale), 0, False",
                ),
                (
                    "scale, clean_steps = scale / 2, 0\n            continue",
                    "scale, clean_steps = scale if before else scale / 2, 0\n"
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
                ("scale / 2, 0", "0.5 * scale, growth_interval"),
                ("        clean_steps += 1\n", "        clean_steps -= 1\n"),
                ("if clean_steps == growth_interval:", "if not clean_steps:"),
                ("2 * scale, 0", "2 * scale, growth_interval"),
            ),
        ),
        Right(
            "a power of two beside the start",
            edits=(
                ("scale, clean_steps = float(init_scale), 0", "scale, clean_steps = 0, 0"),
                ("scale / 2, 0", "scale - 1, 0"),
                ("2 * scale, 0", "scale + 1, 0"),
                ("    return scale\n", "    return init_scale * 2.0**scale\n"),
            ),
        ),
    ),
    promises=(
        Promise(
            "one flag per step, true when a gradient was inf or nan",
            why="it says what the flags mean, and the function sees no gradient",
        ),
    ),
)
