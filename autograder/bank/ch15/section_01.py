"""Section 15.1, The model: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import TOKENS
from autograder.bank.ch15.quantities import PARAMETERS
from autograder.items import Choice, Estimate, Landmark, Slip
from rankzero.facts.models import GPT3_175B
from rankzero.facts.units import PFLOP, day


def _petaflop_days(each: int = 6) -> float:
    return each * PARAMETERS * TOKENS / (PFLOP * day)


QUESTIONS = (
    Estimate(
        id="cap-pfdays",
        title="How much computing is the whole run?",
        section="15.1",
        label="405B parameters, 15.6T tokens, in days of a machine that does 1 petaFLOP per second",
        unit="days",
        answer=_petaflop_days,
        factor=2.0,
        scale=(1e2, 1e8),
        landmarks=(
            Landmark(6 * GPT3_175B.parameters * 300e9 / (PFLOP * day), "3,600", "GPT-3, counted in the same way"),
            Landmark(1e6, "1 million", "about 2,700 years"),
        ),
        slips=(
            Slip(
                "That is the forward pass alone. The backward pass costs twice as much, on top of it.",
                value=_petaflop_days(2),
            ),
            Slip("That counts hours. A day has 24 of them.", value=24 * _petaflop_days()),
            Slip(
                "That is one FLOP for each parameter and token. A weight takes 2 going forward and 4 going back.",
                value=_petaflop_days(1),
            ),
        ),
        derivation=(
            "$6 \\cdot 4 \\times 10^{11} \\cdot 1.6 \\times 10^{13} \\approx 4 \\times 10^{25}$ FLOP. A petaFLOP per "
            "second is $10^{15}$, and a day has about $10^5$ seconds, so one machine-day is about $10^{20}$ FLOP."
        ),
    ),
    Choice(
        id="cap-split",
        kind="design",
        title="More parameters or more tokens?",
        section="15.1",
        options=(
            "runs of their own put the best split elsewhere, and near it the loss is nearly flat",
            "the rule is exact, but nobody knew it when the run was planned, so it missed the best",
            "a model of 563B would not have fitted into the memory of 16,384 GPUs, however it is cut",
            "more tokens always lower the loss further than more parameters do, whatever the budget",
        ),
        correct=0,
        derivation=(
            "The rule of 20 was fitted to much smaller budgets and to other data. Meta's team fitted runs of their "
            "own, of at most $10^{22}$ FLOP, and extrapolated to 402B parameters on 16.55T tokens (section 3.2.1). "
            "They report that the curves grow flatter around the minimum as the budget grows. So a small move along "
            "$6ND = C$ costs little loss, and a smaller model is cheaper to serve."
        ),
        slips={
            1: "It was known, but it is a fit to much smaller runs on other data. A fit of one's own is worth more.",
            2: "The weights and their state need 40 percent more memory, which more pipeline stages can provide.",
            3: "With a fixed budget, a model can also be too small: the best split is in between.",
        },
    ),
)
