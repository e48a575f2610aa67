"""Chapter 11: ``residual_distribution``, residual."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

from autograder.bank.ch11.shared import PAIR_CASES, PAIRS, apart, row
from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip


def _equal_or_apart(rng: Random) -> list[Case]:
    same = [row(rng, rng.randint(3, 9), 0.2) for _ in range(2)]
    return [*(Case((one, one)) for one in same), apart(rng)[1]]


def what_is_missing(target, draft):
    """p less what both have, over one less than the acceptance."""
    if list(target) == list(draft):
        return list(target)
    both = list(map(min, target, draft))
    return [(p - common) / (1 - math.fsum(both)) for p, common in zip(target, both, strict=True)]


def in_two_passes(target, draft):
    rest = [p - q if p > q else 0.0 for p, q in zip(target, draft, strict=True)]
    largest = max(rest)
    scaled = [part / largest for part in rest] if largest else list(target)
    return [part / sum(scaled) for part in scaled]


EXERCISE = Build(
    "11 speculative.residual_distribution",
    section="11.13",
    topic="residual",
    bonus=True,
    cases=PAIR_CASES,
    groups=(
        replace(PAIRS[0], hint="What p has more than q, over its sum."),
        PAIRS[1],
        listed("equal or apart", _equal_or_apart, "Where p and q are equal nothing is left over: then p."),
    ),
    slips=(
        Slip(
            "What the draft has too much needs no replacement: negative differences are 0.",
            edit=("max(0.0, p - q)", "abs(p - q)"),
        ),
        Slip(
            "Drafts have already given part of p: only what is missing is redrawn.",
            edit=("_residual(target, draft)", "[float(p) for p in target]"),
        ),
        Slip("The difference p - q counts, not the ratio.", edit=("max(0.0, p - q)", "p / q if q > 0 else 0.0")),
        Slip(
            "Divide by the sum: a distribution sums to 1.",
            edits=(
                (
                    "_check_rows(target, draft)",
                    (
                        "parts = [max(0.0, p - q) for p, q in zip(target, draft, strict=True)]\n"
                        "    _check_rows(target, draft)"
                    ),
                ),
                ("_residual(target, draft)", "parts if sum(parts) else list(target)"),
            ),
        ),
        Slip("That is what the draft has too much: p - q, not q - p.", edit=("max(0.0, p - q)", "max(0.0, q - p)")),
        Slip(
            "Where p and q are equal the sum is 0: the answer there is p.",
            edits=(
                (
                    "_check_rows(target, draft)",
                    (
                        "parts = [max(0.0, p - q) for p, q in zip(target, draft, strict=True)]\n"
                        "    _check_rows(target, draft)"
                    ),
                ),
                ("_residual(target, draft)", "[part / sum(parts) for part in parts]"),
            ),
        ),
    ),
    rights=(
        Right("over one less than the acceptance", program=what_is_missing),
        Right("scaled by the largest first", program=in_two_passes),
    ),
    promises=(
        Promise("Where p and q are equal, p.", edit=("if mass > 0 else list(target)", "if mass > 0 else missing")),
        Promise(
            "``max(0, p - q)``, normalized",
            edit=("[part / mass for part in missing]", "[part for part in missing]"),
        ),
    ),
)
