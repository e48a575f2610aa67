"""Chapter 11: what speculation gives: tokens per pass, speed-up, and the best draft length."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip


def _share(rng: Random, low: float = 0.2, high: float = 0.95) -> float:
    return round(rng.uniform(low, high), 3)


def _round(rng: Random) -> Case:
    return Case((_share(rng), rng.randint(2, 16)))


def _near_one(rng: Random) -> list[Case]:
    near = [Case((1 - rng.uniform(1, 9) * 10.0**-power, rng.randint(3, 30))) for power in (11, 12, 13)]
    less = Case((1 - rng.uniform(4, 9) * 1e-4, rng.randint(20, 30)))  # not yet k + 1
    return [Case((1, rng.randint(2, 9))), Case((1.0, rng.randint(10, 30))), *near, less]


def _ends(rng: Random) -> list[Case]:
    return [Case((_share(rng), 0)), Case((0, rng.randint(1, 9))), Case((_share(rng), 1))]


EXPECTED_TOKENS = Build(
    id="11-expected-tokens",
    module="speculative",
    function="expected_tokens",
    grade="call",
    section="11.4",
    topic="tokens per pass",
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
        Group(
            "acceptance at and near 1",
            lambda rng: rng.choice(_near_one(rng)),
            6,
            "At acceptance 1 all k drafts are accepted, and one more token comes.",
            _near_one,
        ),
        Group("ends", lambda rng: rng.choice(_ends(rng)), 3, "A pass gives one token whatever was drafted.", _ends),
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
)


def _priced(rng: Random) -> Case:
    return Case((_share(rng), rng.randint(2, 12), round(rng.uniform(0.02, 0.4), 3)))


def _verified(rng: Random) -> Case:
    return Case((*_priced(rng).args, round(rng.uniform(1.2, 6), 2)))


def _price_ends(rng: Random) -> list[Case]:
    length, cost = rng.randint(2, 9), round(rng.uniform(0.05, 0.5), 3)
    return [Case((_share(rng), 0, cost)), Case((1, length, cost)), Case((_share(rng), length, 0.0))]


SPEEDUP = Build(
    id="11-speculative-speedup",
    module="speculative",
    function="speculative_speedup",
    grade="call",
    section="11.4",
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
        Group(
            "ends", lambda rng: rng.choice(_price_ends(rng)), 3, "No draft, a perfect draft, a free one.", _price_ends
        ),
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
)


def _worth(rng: Random) -> Case:
    """Both alpha > 0.55 and alpha well above c."""
    return Case((_share(rng, 0.55, 0.93), round(rng.uniform(0.03, 0.3), 3)))


def _poor(rng: Random) -> Case:
    """Alpha below a half and above c."""
    cost = round(rng.uniform(0.02, 0.15), 3)
    return Case((round(cost + rng.uniform(0.1, 0.3), 3), cost))


def _worthless(rng: Random) -> list[Case]:
    cost = round(rng.uniform(0.4, 0.8), 3)
    return [
        Case((round(cost - rng.uniform(0.05, 0.3), 3), cost)),
        Case((0, 0.1)),
        Case((0.9, 1.5)),
        Case((0.9, 0.1, 0)),
    ]


def _draw_tied(rng: Random) -> float:
    """A share at which, drafted at the same cost, one token seems to pay by a rounding error alone."""
    while True:
        share = round(rng.uniform(0.2, 0.9), 3)
        if (1 - share**2) / (1 - share) / (1 + share) > 1:
            return share


def _ties(rng: Random) -> list[Case]:
    """Speed-ups that differ from 1 by rounding alone, and by a billionth."""
    one, other, cost = _draw_tied(rng), _draw_tied(rng), round(rng.uniform(0.2, 0.6), 3)
    return [Case((one, one)), Case((other, other)), Case((cost + 1e-9, cost)), Case((cost - 1e-9, cost))]


def _bounded(rng: Random) -> list[Case]:
    """The best length is the longest that is allowed."""
    most = rng.randint(2, 5)
    return [Case((_share(rng, 0.88, 0.95), 0.02, most)), Case((1, 0.3, most + 4)), Case((1, 0.0))]


OPTIMAL = Build(
    id="11-optimal-draft-length",
    module="speculative",
    function="optimal_draft_length",
    grade="call",
    section="11.4",
    topic="draft length",
    cases=(
        Case((0.7, 0.2)),
        Case((0.8, 0.05)),
        Case((0.95, 0.02)),
        Case((0.5, 0.2)),
        Case((0.3, 0.5)),
        Case((0.9, 0.05, 4)),
    ),
    groups=(
        Group("good drafts", _worth, 6, "Compare the speed-ups of all lengths, not the tokens per pass."),
        Group("poor drafts", _poor, 4, "What counts is that alpha is above c, not above a half."),
        Group(
            "no draft pays",
            lambda rng: rng.choice(_worthless(rng)),
            4,
            "Where no length beats plain decoding the answer is 0.",
            _worthless,
        ),
        Group(
            "ties",
            lambda rng: rng.choice(_ties(rng)),
            4,
            "What is better by less than 1e-12 of the speed-up is not better; what is better by a billionth is.",
            _ties,
        ),
        Group(
            "bounded",
            lambda rng: rng.choice(_bounded(rng)),
            3,
            "max_length itself may be the answer, and nothing above it.",
            _bounded,
        ),
    ),
    slips=(
        Slip(
            "That maximises tokens per pass: drafts cost time.",
            edit=("return best", "return max_length if acceptance > 0 else 0"),
        ),
        Slip(
            "Not to speculate, length 0, is an answer: it has speed-up 1.",
            edit=("best, speed = 0, 1.0", "best, speed = 0, 0.0"),
        ),
        Slip("max_length itself may be the best.", edit=("max_length + 1)", "max_length)")),
        Slip("max_length bounds the search.", edit=("range(1, max_length + 1)", "range(1, 65)")),
        Slip(
            "The token that the target adds after k accepted ones is missing.",
            edit=(
                "found = speculative_speedup(acceptance, length, draft_cost)",
                "found = expected_tokens(acceptance, length - 1) / (length * draft_cost + 1)",
            ),
        ),
        Slip(
            "Acceptance need not exceed a half: it must exceed the draft's cost.",
            edit=("best, speed = 0, 1.0", "if acceptance <= 0.5:\n        return 0\n    best, speed = 0, 1.0"),
        ),
        Slip(
            "A rounding error is no gain: a longer draft must be better by more than 1e-12 of the speed-up.",
            edit=("found > speed * (1 + MARGIN)", "found > speed"),
        ),
    ),
)

ITEMS = (EXPECTED_TOKENS, SPEEDUP, OPTIMAL)
