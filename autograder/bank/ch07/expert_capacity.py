"""Chapter 7: ``expert_capacity``, capacity of experts."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Promise, Slip


def _capacity(rng: Random) -> Case:
    """An uneven share, so that it has to be rounded, and more than one choice."""
    experts = rng.choice((12, 24, 48, 60))
    tokens = experts * rng.randint(2, 8) + rng.choice((1, 5, 7))
    return Case((tokens, experts, rng.choice((2, 4, 5, 7)), rng.choice((0.25, 0.5, 1.25, 1.5, 2.0, 4.0))))


def _written(rng: Random) -> list[Case]:
    """Exact shares, by the factor as it is written; in binary they come out a little above."""
    cases: list[Case] = []
    while len(cases) < 4:
        tokens, experts, factor = 10 * rng.randint(1, 60), rng.randint(1, 8), rng.choice((1.1, 1.15, 1.3, 2.2))
        top_k = rng.randint(1, experts)
        if tokens * top_k * round(100 * factor) % (100 * experts) == 0:
            product = factor * tokens * top_k / experts
            if product > round(product):
                cases.append(Case((tokens, experts, top_k, factor)))
    return cases


def _small_capacities(rng: Random) -> list[Case]:
    experts = rng.randint(4, 64)
    return [
        Case((0, experts, 2, 1.25)),
        Case((1, experts, 1)),
        Case((rng.randint(1, 512), 1, 1)),
        Case((3, experts, 2)),
    ]


EXERCISE = Build(
    "07 experts.expert_capacity",
    section="7.22",
    topic="capacity of experts",
    bonus=True,
    cases=(
        Case((4096, 64, 2, 1.25)),
        Case((4096, 8, 1, 1.25)),  # the Switch Transformer's factor
        Case((100, 8, 2, 1.0)),
        Case((100, 16, 1)),
        Case((50, 1, 1, 1.1)),
        Case((0, 8, 2)),
    ),
    groups=(
        Group("uneven shares", _capacity, 8, "An even share of all T k assignments, times the factor, rounded up."),
        one_of_each(
            "the factor as it is written",
            _written,
            "A whole share stays whole: calculate with the factor as written, not with its binary neighbor.",
        ),
        one_of_each(
            "small numbers",
            _small_capacities,
            "Zero tokens need no room, one token needs one place, and a single expert takes everything.",
        ),
    ),
    slips=(
        Slip(
            "Each token makes k choices: T k assignments have to find room.",
            edit=("tokens * top_k / experts", "tokens / experts"),
        ),
        Slip("Rounded down, an even router already drops tokens.", edit=("math.ceil", "int")),
        Slip(
            "The k choices of a token need more room, not less.",
            edit=("tokens * top_k / experts", "tokens / (experts * top_k)"),
        ),
        Slip(
            "The share was rounded before it was multiplied by the factor. Round once, at the end, and up.",
            edit=(
                "math.ceil(Fraction(str(capacity_factor)) * tokens * top_k / experts)",
                "int(Fraction(str(capacity_factor)) * math.ceil(Fraction(tokens * top_k, experts)))",
            ),
        ),
        Slip(
            "The binary factor is slightly above the written one, so a whole share became one larger.",
            edit=("Fraction(str(capacity_factor))", "capacity_factor"),
        ),
    ),
    promises=(
        Promise(
            "The factor counts as it is written",
            edit=("Fraction(str(capacity_factor))", "Fraction(capacity_factor)"),
        ),
    ),
)
