"""Chapter 5: ``assign_buckets``, buckets."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Slip
from rankzero.facts.units import MiB


def _gradients(rng: Random, most: int = 40) -> list[float]:
    return [rng.choice((0.25, 0.5, 1, 3, 10)) * MiB for _ in range(rng.randint(8, most))]


def _filled_buckets(rng: Random) -> Case:
    """Small gradients under a small first limit and a larger one, and a rest that fills no bucket."""
    sizes = [rng.choice((0.75, 1.5, 2.5)) * MiB for _ in range(rng.randint(20, 40))]
    return Case(([*sizes, 64 * MiB, 0.5 * MiB], [2 * MiB, rng.choice((9, 17, 25)) * MiB]))


def _one_limit(rng: Random) -> Case:
    return Case((_gradients(rng), [rng.choice((0.3, 1, 5, 25)) * MiB]))


def _three_limits(rng: Random) -> Case:
    limits = [MiB, rng.choice((4, 8)) * MiB, rng.choice((2, 20)) * MiB]
    return Case((_gradients(rng, 60), limits))


def _equal_layers(rng: Random) -> Case:
    """Totals that meet the limit exactly."""
    size = rng.choice((1, 2, 4)) * MiB
    return Case(([size] * rng.randint(20, 60), [size, rng.choice((5, 8)) * size]))


def _empty_gradients(rng: Random) -> Case:
    sizes = [rng.choice((0, 0, 1.0, 3.0)) * MiB for _ in range(rng.randint(3, 20))]
    return Case((sizes, [rng.choice((2, 4)) * MiB]))


def _empty_corners(rng: Random) -> list[Case]:
    return [Case(([], [MiB])), Case(([0, 0, 0], [MiB])), Case(([0, 0, 5 * MiB, 0], [rng.choice((1, 5)) * MiB]))]


EXERCISE = Build(
    "05 buckets.assign_buckets",
    section="5.10",
    topic="buckets",
    bonus=True,
    cases=(
        Case(([0.75 * MiB, 0.5 * MiB, 10 * MiB, 10 * MiB, 10 * MiB], [MiB, 25 * MiB])),
        Case(([MiB] * 40, [MiB, 25 * MiB])),  # DDP's defaults: PyTorch documentation, bucket_cap_mb
        Case(([30 * MiB, 1, 1], [MiB, 25 * MiB])),
        Case(([0, 0, 5], [5])),
        Case(([MiB] * 40, [1e12])),
        Case(([], [MiB])),
    ),
    groups=(
        Group(
            "two limits",
            _filled_buckets,
            6,
            "A bucket closes once it holds its limit or more; the first bucket has the first limit, the rest make a "
            "last bucket.",
        ),
        Group("one limit", _one_limit, 4, "With one limit all buckets have it."),
        Group("three limits", _three_limits, 4, "The last limit holds for all later buckets."),
        Group("exactly full", _equal_layers, 4, "A bucket that holds exactly its limit is full."),
        Group(
            "nothing in them",
            _empty_gradients,
            6,
            "Gradients of no bytes are in buckets too; without gradients there is no bucket.",
            _empty_corners,
        ),
    ),
    slips=(
        Slip(
            "A bucket was closed before it would exceed its limit: it closes after, and may hold more.",
            edits=(
                ("math.inf", "0"),
                ("held >= limit", "not buckets or held + size > limits[min(len(buckets), len(limits)) - 1]"),
                ("buckets.append([])", "buckets.append([])\n            held = 0"),
            ),
        ),
        Slip(
            "The first limit was used for all buckets: it is for the first one alone.",
            edits=(
                ("math.inf", "limits[0]"),
                ("held >= limit", "held >= limits[0]"),
                ("buckets.append([])", "buckets.append([])\n            held = 0"),
            ),
        ),
        Slip(
            "The gradients of the last bucket are missing: what is left over travels too.",
            edit=("return buckets", "return buckets if held >= limit else buckets[:-1]"),
        ),
        Slip(
            "A bucket that holds exactly its limit is full; yours waits for more.",
            edit=("held >= limit", "held > limit"),
        ),
        Slip(
            "The sizes are already in the order in which gradients become ready: do not reverse them.",
            edit=("enumerate(sizes)", "reversed([*enumerate(sizes)])"),
        ),
    ),
    promises=(
        Promise(
            "closes as soon as it holds at least its limit: it may hold more",
            edit=("if held >= limit:", "if held + size > limit:"),
        ),
        Promise(
            "What is left over at the end forms the last bucket",
            edit=("    return buckets\n", "    return buckets if held >= limit else buckets[:-1]\n"),
        ),
        Promise(
            "The last one holds for all later buckets",
            edit=("limits[min(len(buckets), len(limits) - 1)]", "limits[len(buckets) % len(limits)]"),
        ),
        Promise(
            "none when there is no gradient",
            edit=("    return buckets\n", "    return buckets or [[]]\n"),
        ),
    ),
)
