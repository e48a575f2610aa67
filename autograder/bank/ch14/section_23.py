"""Section 14.23, Effective samples: its questions."""

from __future__ import annotations

import math

from autograder.bank.ch14.shared import NEW, OLD
from autograder.items import Choice, Question, Slip, lazily

off_policy = lazily("solutions.ch14.off_policy")


QUESTIONS = (
    Question(
        id="14-ess",
        kind="derive",
        title="Effective samples",
        section="14.23",
        bonus=True,
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
        section="14.23",
        bonus=True,
        options=(
            "about the same",
            "clearly lower: the samples are from another policy",
            "higher: the samples are more varied",
            "it does not learn at all",
        ),
        correct=0,
        derivation="One version apart, most ratios are near 1 and nearly all samples count. With a correction or "
        "without one, little changes.",
        slips={
            1: "One version apart, nearly all samples still count.",
            2: "Older samples are of a slightly worse policy; nothing is gained by that.",
            3: "Learning fails when the policies have little in common: that takes many versions.",
        },
    ),
)
