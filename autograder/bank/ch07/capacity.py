"""Chapter 07: how many assignments an expert takes, and which."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Slip

# --- expert_capacity


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


CAPACITY = Build(
    id="07-expert-capacity",
    module="experts",
    function="expert_capacity",
    grade="call",
    section="7.22",
    bonus=True,
    topic="capacity of experts",
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
)

# --- keep_within_capacity


def _choices(rng: Random, tokens: int, experts: int, top_k: int) -> list[list[int]]:
    """Skewed choices: low numbers are popular."""
    rows = []
    for _ in range(tokens):
        order = sorted(range(experts), key=lambda expert: expert / experts + 1.5 * rng.random())
        rows.append(order[:top_k])
    return rows


def _crowded(rng: Random) -> Case:
    experts, tokens = rng.randint(4, 12), rng.randint(24, 48)
    top_k = rng.randint(2, min(4, experts - 1))
    return Case((_choices(rng, tokens, experts, top_k), experts, max(2, tokens * top_k // experts - rng.randint(0, 2))))


def _one_choice(rng: Random) -> Case:
    experts, tokens = rng.randint(2, 8), rng.randint(16, 40)
    return Case((_choices(rng, tokens, experts, 1), experts, max(1, tokens // experts - 1)))


def _few_choices(rng: Random) -> list[Case]:
    experts = rng.randint(3, 8)
    rows = _choices(rng, rng.randint(4, 9), experts, 2)
    return [Case((rows, experts, 0)), Case((rows, experts, 99)), Case(([], experts, 2)), Case((rows, experts, 1))]


KEEP = Build(
    id="07-keep-within-capacity",
    module="experts",
    function="keep_within_capacity",
    grade="call",
    section="7.22",
    bonus=True,
    topic="capacity of experts",
    cases=(
        Case(([[0, 1], [0, 2], [0, 1], [1, 0]], 3, 2)),
        Case(([[0, 1], [1, 0], [1, 2]], 3, 1)),
        Case(([[0], [0], [0]], 2, 2)),
        Case(([[0, 1], [1, 0]], 2, 0)),
        Case(([], 4, 2)),
    ),
    groups=(
        Group("crowded experts", _crowded, 6, "All first choices come before any second; tokens come in their order."),
        Group("one choice", _one_choice, 3, "With one choice per token an expert takes the first tokens that want it."),
        one_of_each(
            "ends", _few_choices, "Without room nothing is kept, with plenty everything; there may be no tokens."
        ),
    ),
    slips=(
        Slip(
            "Tokens were served one by one: a late token's first choice lost to an early token's second.",
            edit=(
                "    for place in range(top_k):\n        for token, chosen in enumerate(choices):",
                "    for token, chosen in enumerate(choices):\n        for place in range(top_k):",
            ),
        ),
        Slip(
            "A token that loses one choice still has its others.",
            edit=("room[expert] > 0", "room[expert] > 0 and all(kept[token][:place])"),
        ),
        Slip(
            "Each choice began with empty experts: the room is for all choices together.",
            edit=("for place in range(top_k):", "for place in range(top_k):\n        room = [capacity] * experts"),
        ),
        Slip(
            "The last tokens were served first.",
            edit=(
                "        for token, chosen in enumerate(choices):\n            expert",
                "        for token, chosen in reversed([*enumerate(choices)]):\n            expert",
            ),
        ),
    ),
)

ITEMS = (CAPACITY, KEEP)
