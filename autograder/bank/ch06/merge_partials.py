"""Chapter 6: ``merge_partials``, context parallelism."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import tensor, vector
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Right, Slip, Tensor


def _partial(rng: Random, shape: tuple[int, ...], width: int, scale: float = 3.0) -> list[Tensor]:
    """Largest scores up to ``scale``, sums of exponentials from 1 on, weighted values."""
    count = 1
    for size in shape:
        count *= size
    largest = Tensor.of([rng.uniform(-scale, scale) for _ in range(count)], "float64", shape)
    total = Tensor.of([rng.uniform(1, 9) for _ in range(count)], "float64", shape)
    return [largest, total, tensor(rng, *shape, width)]


def _pair(rng: Random, shape: tuple[int, ...], width: int = 3, scale: float = 3.0) -> Case:
    return Case((_partial(rng, shape, width, scale), _partial(rng, shape, width, scale)))


def _ordinary(rng: Random) -> Case:
    return _pair(rng, (rng.randint(1, 3), rng.randint(2, 5)), rng.randint(2, 4))


def _far_apart(rng: Random) -> list[Case]:
    """Maxima so large that exponentials of them overflow, and so far apart that one block does not count."""
    return [_pair(rng, (2, 3), scale=5000.0), _pair(rng, (4,), scale=900.0)]


#: Scores 3 and 2 with values 10 and 40, and scores 5 and 4 with values 8 and 20; powers of e.
MERGED = Case(
    (
        [vector(3.0), vector(1.5), Tensor.of([30.0], "float64", (1, 1))],
        [vector(5.0), vector(1.5), Tensor.of([18.0], "float64", (1, 1))],
    )
)

_SCALED = "first, second = (one[0] - largest).exp(), (other[0] - largest).exp()  # at most 1"


EXERCISE = Build(
    "06 context_parallel.merge_partials",
    section="6.11",
    topic="context parallelism",
    bonus=True,
    grade="tensor",
    cases=(MERGED, _pair(Random("merge"), (2, 3)), _pair(Random("merge far"), (3,), 2, 2000.0)),
    groups=(
        Group("two blocks", _ordinary, 5, "Scale what was formed with the smaller maximum down, then add."),
        listed("large scores", _far_apart, "Scores may be thousands: exponentials of them overflow.", 3),
        Group("a query alone", lambda rng: _pair(rng, (1,), 1), 2, "There may be a single query of a single feature."),
    ),
    slips=(
        Slip(
            "Sums and values were added as they are: they were formed with different maxima.",
            edit=(_SCALED, "first = second = torch.ones_like(largest)"),
        ),
        Slip(
            "The exponentials were taken without subtracting the common maximum: they overflow.",
            edit=(_SCALED, "first, second = one[0].exp(), other[0].exp()"),
        ),
        Slip(
            "The weighted values were divided by the sum: return them as they are, so that a third block can be "
            "merged.",
            edit=(
                "return largest, total, one[2] * first[..., None] + other[2] * second[..., None]",
                "return largest, total, (one[2] * first[..., None] + other[2] * second[..., None]) / total[..., None]",
            ),
        ),
        Slip(
            "Only the sums were scaled: the weighted values were formed with the same maxima.",
            edit=("one[2] * first[..., None] + other[2] * second[..., None]", "one[2] + other[2]"),
        ),
        Slip(
            "The maxima were averaged: the larger of the two is the common one.",
            edit=("torch.maximum(one[0], other[0])", "(one[0] + other[0]) / 2"),
        ),
    ),
    rights=(
        Right(
            "sums by their logarithms",
            edit=(
                "total = one[1] * first + other[1] * second",
                "both = torch.logaddexp(one[0] + one[1].log(), other[0] + other[1].log())\n"
                "    total = (both - largest).exp()",
            ),
        ),
        Right(
            "stacked and summed",
            edits=(
                ("torch.maximum(one[0], other[0])", "torch.stack([one[0], other[0]]).amax(0)"),
                (
                    "return largest, total, one[2] * first[..., None] + other[2] * second[..., None]",
                    "scales = torch.stack([first, second])[..., None]\n"
                    "    return largest, total, (torch.stack([one[2], other[2]]) * scales).sum(0)",
                ),
            ),
        ),
    ),
)
