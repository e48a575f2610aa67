"""Section 11.9, What a mask does to meaning: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip

#: Chances of the first token, and of the token that fits after it.
FIRST = {"a": 0.9, "b": 0.1}

FITS = {"a": 0.01, "b": 0.9}


def conditioned(first: str) -> float:
    """The chance of a first token among the texts that fit."""
    joint = {token: FIRST[token] * FITS[token] for token in FIRST}
    return joint[first] / sum(joint.values())


QUESTIONS = (
    Question(
        id="11-mask-not-condition",
        kind="derive",
        title="Masking and conditioning",
        section="11.9",
        parts=(
            Part(
                "under the mask",
                "probability",
                lambda: FIRST["a"],
                slips=(
                    Slip(
                        "That is the model's own distribution, given that the text fits.",
                        value=lambda: conditioned("a"),
                    ),
                    Slip("That is the chance of both tokens: the mask makes each step sum to 1.", value=0.9 * 0.01),
                ),
            ),
            Part(
                "among the model's own texts that fit",
                "probability",
                lambda: conditioned("a"),
                slips=(
                    Slip("That is the distribution of the masked steps.", value=0.9),
                    Slip("That is the chance of a and x: divide by that of all texts that fit.", value=0.9 * 0.01),
                    Slip("That is x after a alone, as a share of both: weigh with the first token.", value=0.01 / 0.91),
                ),
            ),
        ),
        derivation="After either first token an `x` can follow, so the first mask forbids nothing: $P(a)$. The second "
        "mask leaves `x` alone, which then has probability 1. Given that the text fits, Bayes' rule weighs it:\n\n"
        "$$P(a \\mid x) = \\frac{P(a) P(x \\mid a)}{P(a) P(x \\mid a) + P(b) P(x \\mid b)}$$",
    ),
)
