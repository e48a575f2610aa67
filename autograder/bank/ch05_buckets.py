"""Chapter 5: the exercise about buckets: which gradients travel together."""

from __future__ import annotations

from math import inf, nan
from random import Random

from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.units import MiB


def slip_closed_before(sizes, limits):
    if not limits or not all(0 < limit < 1e300 for limit in limits) or not all(0 <= s < 1e300 for s in sizes):
        raise ValueError("out of range")
    buckets: list = []
    held = 0
    for index, size in enumerate(sizes):
        if not buckets or held + size > limits[min(len(buckets), len(limits)) - 1]:
            buckets.append([])
            held = 0
        buckets[-1].append(index)
        held += size
    return buckets


def slip_first_limit_kept(sizes, limits):
    if not limits or not all(0 < limit < 1e300 for limit in limits) or not all(0 <= s < 1e300 for s in sizes):
        raise ValueError("out of range")
    buckets: list = []
    held = limits[0]
    for index, size in enumerate(sizes):
        if held >= limits[0]:
            buckets.append([])
            held = 0
        buckets[-1].append(index)
        held += size
    return buckets


def slip_rest_forgotten(sizes, limits):
    if not limits or not all(0 < limit < 1e300 for limit in limits) or not all(0 <= s < 1e300 for s in sizes):
        raise ValueError("out of range")
    buckets: list = []
    open_one: list = []
    held = 0
    for index, size in enumerate(sizes):
        open_one.append(index)
        held += size
        if held >= limits[min(len(buckets), len(limits) - 1)]:
            buckets.append(open_one)
            open_one, held = [], 0
    return buckets


def slip_must_exceed(sizes, limits):
    if not limits or not all(0 < limit < 1e300 for limit in limits) or not all(0 <= s < 1e300 for s in sizes):
        raise ValueError("out of range")
    buckets: list = []
    open_one: list = []
    held = 0
    for index, size in enumerate(sizes):
        open_one.append(index)
        held += size
        if held > limits[min(len(buckets), len(limits) - 1)]:
            buckets.append(open_one)
            open_one, held = [], 0
    return buckets + ([open_one] if open_one else [])


def slip_from_the_end(sizes, limits):
    if not limits or not all(0 < limit < 1e300 for limit in limits) or not all(0 <= s < 1e300 for s in sizes):
        raise ValueError("out of range")
    buckets: list = []
    open_one: list = []
    held = 0
    for index in reversed(range(len(sizes))):
        open_one.append(index)
        held += sizes[index]
        if held >= limits[min(len(buckets), len(limits) - 1)]:
            buckets.append(open_one)
            open_one, held = [], 0
    return buckets + ([open_one] if open_one else [])


def slip_buckets_unchecked(sizes, limits):
    buckets: list = []
    open_one: list = []
    held = 0
    for index, size in enumerate(sizes):
        open_one.append(index)
        held += size
        if limits and held >= limits[min(len(buckets), len(limits) - 1)]:
            buckets.append(open_one)
            open_one, held = [], 0
    return buckets + ([open_one] if open_one else [])


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


def _bad_buckets(rng: Random) -> list[Case]:
    sizes = _gradients(rng, 9)
    return [
        invalid(sizes, []),
        invalid([], []),
        invalid(sizes, [0]),
        invalid(sizes, [MiB, -MiB]),
        invalid(sizes, [nan]),
        invalid([*sizes, -1], [MiB]),
        invalid([-MiB], [MiB]),
        invalid([inf], [MiB]),
    ]


BUCKETS = Build(
    id="05-assign-buckets",
    module="buckets",
    function="assign_buckets",
    grade="call",
    cases=(
        Case(([0.75 * MiB, 0.5 * MiB, 10 * MiB, 10 * MiB, 10 * MiB], [MiB, 25 * MiB])),
        Case(([MiB] * 40, [MiB, 25 * MiB])),  # DDP's defaults: PyTorch documentation, bucket_cap_mb
        Case(([30 * MiB, 1, 1], [MiB, 25 * MiB])),
        Case(([0, 0, 5], [5])),
        Case(([MiB] * 40, [1e12])),
        Case(([], [MiB])),
        invalid([MiB], []),
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
            "Gradients of no bytes stand in buckets too; without gradients there is no bucket.",
            _empty_corners,
        ),
        Group(
            "bad input", lambda rng: rng.choice(_bad_buckets(rng)), 8, "Bad input must raise ValueError.", _bad_buckets
        ),
    ),
    slips=(
        Slip(
            "A bucket was closed before it would exceed its limit: it closes after, and may hold more.",
            slip_closed_before,
        ),
        Slip("The first limit was used for all buckets: it is for the first one alone.", slip_first_limit_kept),
        Slip("The gradients of the last bucket are missing: what is left over travels too.", slip_rest_forgotten),
        Slip("A bucket that holds exactly its limit is full; yours waits for more.", slip_must_exceed),
        Slip(
            "The sizes already stand in the order in which gradients become ready: do not turn them round.",
            slip_from_the_end,
        ),
        Slip("Impossible arguments were accepted: no limit, a limit of 0, negative sizes.", slip_buckets_unchecked),
    ),
    section="5.2",
    topic="buckets",
)

ITEMS = (BUCKETS,)
