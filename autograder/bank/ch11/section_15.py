"""Section 11.15, What moves acceptance: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-temperature-0",
        kind="trace",
        title="Temperature 0",
        section="11.15",
        bonus=True,
        options=(
            "it is the target's arg-max",
            "the target finds it at least as likely as the draft does at temperature 1",
            "the uniform is below the target's probability at temperature 1",
            "never: all probabilities are 0 or 1 there",
        ),
        correct=0,
        derivation="Both distributions are one-hot: $q(x) = 1$ for what was drafted, and $p(x)$ is 1 for the target's "
        "arg-max and 0 else. So $u\\,q < p$ says whether the two agree, whatever $u$ is.",
        slips={
            1: "At temperature 0 the probabilities of temperature 1 play no part.",
            2: "At temperature 0 the probabilities of temperature 1 play no part, and no luck does.",
            3: "A probability of 1 on both sides is accepted, always.",
        },
    ),
    Choice(
        id="11-tokenizer",
        kind="trace",
        title="One tokenizer for both",
        section="11.15",
        bonus=True,
        options=(
            "p(x)/q(x) compares the probabilities of the same token x, in the same place",
            "translating tokens back and forth takes longer than a target pass",
            "both caches have to be of the same size",
            "the draft was trained on what the target has written",
        ),
        correct=0,
        derivation="Acceptance and residual are made of $p(x)$ and $q(x)$ for the same $x$: one vocabulary, cut the "
        "same way. Schemes for two tokenizers exist; they compare texts in another way.",
        slips={
            1: "Slow would still be right: without common tokens the rule itself has no meaning.",
            2: "The caches are of different models and never meet.",
            3: "The rule is exact for any draft, whatever it was trained on.",
        },
    ),
)
