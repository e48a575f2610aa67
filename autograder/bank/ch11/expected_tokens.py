"""Chapter 11: ``expected_tokens``, tokens per pass."""

from __future__ import annotations

from random import Random

from autograder.bank.ch11.shared import factored_out, share
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _round(rng: Random) -> Case:
    return Case((share(rng), rng.randint(2, 16)))


def _near_one(rng: Random) -> list[Case]:
    near = [Case((1 - rng.uniform(1, 9) * 10.0**-power, rng.randint(3, 30))) for power in (12, 13, 14)]
    less = Case((1 - rng.uniform(4, 9) * 1e-4, rng.randint(20, 30)))  # not yet k + 1
    return [Case((1, rng.randint(2, 9))), Case((1.0, rng.randint(10, 30))), *near, less]


def _ends(rng: Random) -> list[Case]:
    return [Case((share(rng), 0)), Case((0, rng.randint(1, 9))), Case((share(rng), 1))]


EXERCISE = Build(
    "11 speculative.expected_tokens",
    section="11.14",
    topic="tokens per pass",
    bonus=True,
    cases=(
        Case((0.8, 5)),  # Leviathan et al., equation 1
        Case((0.9, 8)),
        Case((0.75, 4)),
        Case((1, 5)),
        Case((0, 5)),
        Case((0.8, 0)),
    ),
    groups=(
        Group("rounds", _round, 7, "1 + alpha + alpha^2 + ... + alpha^k."),
        listed(
            "acceptance at and near 1",
            _near_one,
            "At acceptance 1 all k drafts are accepted, and one more token comes.",
        ),
        listed("ends", _ends, "In any case, the pass adds one token of its own."),
    ),
    slips=(
        Slip(
            "The exponent is k: the token that the target adds after k accepted ones is missing.",
            edits=(
                (
                    (
                        "if 1 - acceptance < 1e-6:\n"
                        "        return math.fsum(acceptance**i for i in range(draft_length + 1))"
                    ),
                    "",
                ),
                (
                    "(1 - acceptance ** (draft_length + 1)) / (1 - acceptance)",
                    "sum(acceptance ** i for i in range(draft_length)) or 1.0",
                ),
            ),
        ),
        Slip(
            "A draft after a rejected one is never judged: acceptances do not simply add up.",
            edit=("(1 - acceptance ** (draft_length + 1)) / (1 - acceptance)", "acceptance * draft_length + 1"),
        ),
        Slip(
            "That takes a share alpha of k + 1 tokens; a rejection drops all that follow.",
            edit=(
                "(1 - acceptance ** (draft_length + 1)) / (1 - acceptance)",
                "(draft_length + 1) * acceptance if draft_length else 1.0",
            ),
        ),
        Slip(
            "Those are the accepted drafts: the target adds one token of its own.",
            edits=(
                (
                    (
                        "if 1 - acceptance < 1e-6:\n"
                        "        return math.fsum(acceptance**i for i in range(draft_length + 1))"
                    ),
                    "",
                ),
                (
                    "(1 - acceptance ** (draft_length + 1)) / (1 - acceptance)",
                    "sum(acceptance ** i for i in range(1, draft_length + 1))",
                ),
            ),
        ),
        Slip(
            "At acceptance 1 the formula is 0/0; the answer there is k + 1.",
            edit=(
                "if 1 - acceptance < 1e-6:\n        return math.fsum(acceptance**i for i in range(draft_length + 1))",
                "",
            ),
        ),
    ),
    rights=(
        Right("factored out", program=factored_out),
        Right(
            "a sum of powers",
            edit=("if 1 - acceptance < 1e-6:", "if True:"),
        ),
    ),
    promises=(
        Promise(
            "It is as accurate near ``acceptance`` 1 as elsewhere.",
            edit=(
                "if 1 - acceptance < 1e-6:\n        return math.fsum(acceptance**i for i in range(draft_length + 1))",
                "if 1 - acceptance < 1e-3:\n        return draft_length + 1.0",
            ),
        ),
        Promise(
            "The pass adds one token of its own in any case",
            edits=(
                ("range(draft_length + 1))\n", "range(draft_length))\n"),
                ("acceptance ** (draft_length + 1)", "acceptance ** draft_length"),
            ),
        ),
    ),
)
