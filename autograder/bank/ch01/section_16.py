"""Section 1.16, How many tokens: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip, lazily

scale = lazily("solutions.ch01.scale")


QUESTIONS = (
    Question(
        id="01-chinchilla-size",
        kind="derive",
        title="The size for a budget",
        section="1.16",
        bonus=True,
        ask="size",
        unit="parameters",
        answer=lambda: scale.compute_optimal(5.76e23)[0],
        slips=(
            Slip("The root is missing.", value=lambda: scale.compute_optimal(5.76e23)[0] ** 2),
            Slip("The 6 FLOP were left out.", value=lambda: (5.76e23 / 20) ** 0.5),
            Slip("Those are the tokens.", value=lambda: scale.compute_optimal(5.76e23)[1]),
        ),
        derivation="With $D = 20 N$ the budget is $C = 6 N D = 120 N^2$, so $N = \\sqrt{C / 120}$ with "
        "$C = 5.76 \\cdot 10^{23}$.",
    ),
    Choice(
        id="01-which-fit",
        kind="trace",
        title="Three ways to one ratio",
        section="1.16",
        bonus=True,
        options=(
            "it is a fit: two approaches and the refit of the third agree near this budget",
            "the rule is wrong: a model should be trained on 92.6 tokens per parameter",
            "the rule is right: the parametric fit was refuted, so 20 holds for every budget and every model",
            "the two fits should be averaged",
        ),
        correct=0,
        derivation="The paper estimates the ratio in three ways. Extrapolated to $5.76 \\cdot 10^{23}$ FLOP, two "
        "of them give about 20. The third, a parametric loss, was fitted by a search that stopped too early, and was "
        "rounded in print; a refit to points read off the same figure agrees with the others. All are fits to runs of "
        "one family, of at most $3 \\cdot 10^{21}$ FLOP, and they ask for the lowest training cost alone, not for the "
        "cost of serving.",
        slips={
            1: "That is the fit with its numbers as rounded in print: a refit to points of the same figure gives 18.4.",
            2: "A refit that agrees proves no law: other budgets, data and architectures have other optima.",
            3: "Both describe the same data, and one describes it badly.",
        },
    ),
)
