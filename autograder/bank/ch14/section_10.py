"""Section 14.10, Off-policy correction: its questions."""

from __future__ import annotations

import math

from autograder.bank.ch14.shared import NEW, OLD
from autograder.items import Choice, Part, Question, Slip, lazily

off_policy = lazily("solutions.ch14.off_policy")

TARGET, BEHAVIOUR, VALUES = (0.7, 0.2, 0.1), (0.4, 0.4, 0.2), (1, 2, 5)


def _average(cap: float | None) -> float:
    logs = ([math.log(p) for p in row] for row in (TARGET, BEHAVIOUR))
    weights = off_policy.importance_weights(*logs, cap=cap)
    return math.fsum(b * w * f for b, w, f in zip(BEHAVIOUR, weights, VALUES, strict=True))


def _naive() -> float:
    return math.fsum(b * f for b, f in zip(BEHAVIOUR, VALUES, strict=True))


QUESTIONS = (
    Question(
        id="14-trunc-bias",
        kind="derive",
        title="Three averages of one set of samples",
        section="14.10",
        parts=(
            Part(
                "without weights",
                "",
                _naive,
                tolerance=1e-6,
                slips=(Slip("The samples come from the behaviour policy: its probabilities weigh them.", value=1.6),),
            ),
            Part(
                "with weights",
                "",
                lambda: _average(None),
                tolerance=1e-6,
                slips=(Slip("That leaves the weights out.", value=2.2),),
            ),
            Part(
                "weights truncated at 1.5",
                "",
                lambda: _average(1.5),
                tolerance=1e-6,
                slips=(
                    Slip("One weight is above 1.5: what is cut off it is missing in the average.", value=1.6),
                    Slip("Weights below 1 stay as they are.", value=1.8),
                ),
            ),
        ),
        derivation="Each is $\\sum_x b(x)\\, w(x)\\, f(x)$: with $w = 1$, with $w = p/b$, with $w = \\min(p/b, c)$. "
        "The second is exact, for $b\\,p/b = p$. The third lacks what the first outcome weighs above the cap: "
        "$0.4 \\cdot (1.75 - c) \\cdot 1$.",
    ),
    Question(
        id="14-ess",
        kind="derive",
        title="Effective samples",
        section="14.10",
        ask="samples",
        unit="samples",
        answer=lambda: off_policy.effective_sample_size(off_policy.importance_weights(NEW, OLD)),
        tolerance=0.005,
        slips=(
            Slip("They would count as three if they were equal.", value=3),
            Slip(
                "That is the sum of squares: it is the denominator.",
                value=lambda: math.fsum(w * w for w in off_policy.importance_weights(NEW, OLD)),
            ),
        ),
        derivation="The square of the sum over the sum of the squares: "
        "$(1.64872 + 0.367879 + 1)^2 / (1.64872^2 + 0.367879^2 + 1^2)$.",
    ),
    Choice(
        id="14-lag-free",
        kind="trace",
        title="One version late",
        section="14.10",
        options=(
            "about the same",
            "clearly lower: the samples are from another policy",
            "higher: the samples are more varied",
            "it does not learn at all",
        ),
        correct=0,
        derivation="One update moves a policy a little, so that most ratios are near 1 and nearly all samples count. "
        "The correction does the rest.",
        slips={
            1: "One small update apart, the two policies agree on nearly every token.",
            2: "Older samples are of a slightly worse policy; nothing is gained by that.",
            3: "Learning fails when the policies have little in common: that takes many versions.",
        },
    ),
)
