"""Chapter 11: ``acceptance_probability``, acceptance."""

from __future__ import annotations

from autograder.bank.ch11.shared import PAIR_CASES, PAIRS
from autograder.items import Build, Promise, Right, Slip


def half_the_distance(target, draft):
    return 1 - sum(abs(p - q) for p, q in zip(target, draft, strict=True)) / 2


def least_of_each(target, draft):
    return sum(q * min(1.0, p / q) for p, q in zip(target, draft, strict=True) if q)


EXERCISE = Build(
    "11 speculative.acceptance_probability",
    section="11.13",
    topic="acceptance",
    bonus=True,
    cases=PAIR_CASES,
    groups=PAIRS,
    slips=(
        Slip(
            "That is how likely both draw the same token on their own: only the draft draws.",
            edit=("math.fsum(map(min, target, draft))", "sum(p * q for p, q in zip(target, draft, strict=True))"),
        ),
        Slip(
            "Every token may be drafted, not the likeliest alone.",
            edit=("math.fsum(map(min, target, draft))", "target[draft.index(max(draft))]"),
        ),
        Slip(
            "Tokens are not equally likely: weigh min(1, p/q) with q.",
            edits=(
                (
                    "_check_rows(target, draft)",
                    (
                        "shares = [min(1.0, p / q) for p, q in zip(target, draft, strict=True) if q > 0]\n"
                        "    _check_rows(target, draft)"
                    ),
                ),
                ("math.fsum(map(min, target, draft))", "sum(shares) / len(shares)"),
            ),
        ),
        Slip(
            "Half of the summed difference: what one has too much the other has too little.",
            edit=(
                "math.fsum(map(min, target, draft))",
                "1 - sum(abs(p - q) for p, q in zip(target, draft, strict=True))",
            ),
        ),
        Slip(
            "That is how likely the token is rejected.",
            edit=(
                "math.fsum(map(min, target, draft))",
                "sum(max(0.0, p - q) for p, q in zip(target, draft, strict=True))",
            ),
        ),
    ),
    rights=(
        Right("half the distance", program=half_the_distance),
        Right("the mean over the draft", program=least_of_each),
    ),
    promises=(Promise("``sum(min(p, q))``", edit=("map(min, target, draft)", "map(max, target, draft)")),),
)
