"""Chapter 7: ``keep_within_capacity``, capacity of experts."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Promise, Slip


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


EXERCISE = Build(
    "07 experts.keep_within_capacity",
    section="7.22",
    topic="capacity of experts",
    bonus=True,
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
    promises=(
        Promise(
            "within a choice, tokens are served in their order",
            edit=(
                "        for token, chosen in enumerate(choices):\n            expert",
                "        for token, chosen in reversed(list(enumerate(choices))):\n            expert",
            ),
        ),
    ),
)
