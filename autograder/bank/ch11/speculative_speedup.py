"""Chapter 11: ``speculative_speedup``, speed-up of speculation."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch11.shared import factored_out, share
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _priced(rng: Random) -> Case:
    return Case((share(rng), rng.randint(2, 12), round(rng.uniform(0.02, 0.4), 3)))


def _verified(rng: Random) -> Case:
    return Case((*_priced(rng).args, round(rng.uniform(1.2, 6), 2)))


def _price_ends(rng: Random) -> list[Case]:
    length, cost = rng.randint(2, 9), round(rng.uniform(0.05, 0.5), 3)
    return [Case((share(rng), 0, cost)), Case((1, length, cost)), Case((share(rng), length, 0.0))]


def passes_per_token(acceptance, draft_length, draft_cost, verify_cost=1.0):
    tokens = factored_out(acceptance, draft_length)
    times = [draft_cost / tokens] * draft_length + [verify_cost / tokens]
    return 1 / math.fsum(times)


EXERCISE = Build(
    "11 speculative.speculative_speedup",
    section="11.5",
    topic="speed-up of speculation",
    cases=(
        Case((0.8, 5, 0.05)),
        Case((0.7, 3, 0.2)),
        Case((0.5, 1, 0.2)),  # Leviathan et al., corollary 3.9: (1 + alpha)/(1 + c)
        Case((1, 8, 0.2)),
        Case((0.7, 5, 1)),
        Case((0.8, 4, 0.05, 4.25)),
    ),
    groups=(
        Group("drafts", _priced, 6, "A round costs k draft passes and one target pass."),
        Group("dear verification", _verified, 4, "The target's pass over k + 1 positions costs v."),
        listed("ends", _price_ends, "No draft, a perfect draft, a free one."),
    ),
    slips=(
        Slip(
            "The draft model is charged once per round: it runs once for each drafted token.",
            edit=(
                "tokens / cost",
                (
                    "sum(acceptance ** i for i in range(draft_length + 1)) / ((draft_cost if "
                    "draft_length else 0.0) + verify_cost)"
                ),
            ),
        ),
        Slip(
            "c is draft over target, a small number; that is target over draft.",
            edit=(
                "tokens / cost",
                (
                    "sum(acceptance ** i for i in range(draft_length + 1)) / (draft_length * (1 / "
                    "draft_cost if draft_cost else 0.0) + verify_cost)"
                ),
            ),
        ),
        Slip(
            "Verification is one pass over all k + 1 positions: v is charged once.",
            edit=("tokens / cost", "tokens / (draft_length * draft_cost + (draft_length + 1) * verify_cost)"),
        ),
        Slip(
            "The draft passes cost nothing there: add k c.",
            edit=("tokens / cost", "sum(acceptance ** i for i in range(draft_length + 1)) / (verify_cost or 1.0)"),
        ),
        Slip(
            "The cost of verification, v, is left out.",
            edit=(
                "tokens / cost",
                "sum(acceptance ** i for i in range(draft_length + 1)) / (draft_length * draft_cost + 1)",
            ),
        ),
        Slip(
            "The token that the target adds after k accepted ones is missing.",
            edit=(
                "tokens / cost",
                "(sum(acceptance ** i for i in range(draft_length)) if draft_length else 1.0) / cost",
            ),
        ),
    ),
    rights=(
        Right("passes per token", program=passes_per_token),
        Right(
            "parts of the round one after the other",
            edit=("draft_length * draft_cost + verify_cost\n", "sum([draft_cost] * draft_length, verify_cost)\n"),
        ),
    ),
    promises=(
        Promise(
            "drafted one after the other",
            edit=("draft_length * draft_cost + verify_cost\n", "draft_cost + verify_cost\n"),
        ),
        Promise(
            "time of the target pass over k + 1 positions",
            edit=("draft_length * draft_cost + verify_cost\n", "draft_length * draft_cost + 1.0\n"),
        ),
    ),
)
