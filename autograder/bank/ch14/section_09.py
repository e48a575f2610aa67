"""Section 14.9, Learning from yesterday's words: its questions."""

from __future__ import annotations

import math

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
        section="14.9",
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
    Choice(
        id="14-lag-four",
        kind="trace",
        title="Four versions late",
        section="14.9",
        options=(
            "somewhat lower, above 1: it learns, and less well",
            "about as high: four small updates change little",
            "about 0: it learns nothing",
            "below the start: it unlearns what the reference knew",
        ),
        correct=0,
        derivation="Four updates apart, the two policies still agree on most tokens, so most of what a batch says is "
        "right. For the others the step is wrong in size, and now and then in direction.",
        slips={
            1: "The steps are large here: four versions apart, only half of the samples count as effective ones.",
            2: "Most tokens are about as likely under both policies, and their lesson holds.",
            3: "That takes policies with little in common.",
        },
    ),
)
