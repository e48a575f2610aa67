"""Chapter 11: what a mask does to the distribution of texts, and where it belongs when tokens are drafted."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip

#: Chances of the first token, and of the token that fits after it.
FIRST = {"a": 0.9, "b": 0.1}
FITS = {"a": 0.01, "b": 0.9}


def conditioned(first: str) -> float:
    """The chance of a first token among the texts that fit."""
    joint = {token: FIRST[token] * FITS[token] for token in FIRST}
    return joint[first] / sum(joint.values())


MASK_NOT_CONDITION = Question(
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
                Slip("That is the model's own distribution, given that the text fits.", value=lambda: conditioned("a")),
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
)

ORDER_COMBINED = Choice(
    id="11-order-combined",
    kind="trace",
    title="A mask for drafted tokens",
    section="11.10",
    options=(
        "On the draft's and on the target's distributions; at a rejection the automaton is rolled back with the cache.",
        "On the draft alone: the target then sees only tokens that fit.",
        "On the text that comes out: tokens that do not fit are thrown away.",
        "On the target alone, after tokens are accepted.",
    ),
    correct=0,
    slips={
        1: "The replacement and the bonus token are drawn from the target: without a mask they may not fit.",
        2: "Throwing away changes the distribution, and what follows was drawn after a token that is gone.",
        3: "Accepted tokens would be judged by an unmasked distribution, and the replacement may not fit.",
    },
    derivation="The rule of acceptance is exact for any two distributions. Take the masked ones: then the result "
    "follows the masked target. The automaton has read the whole draft and must go back to the last token that stays.",
)

MEANING = (MASK_NOT_CONDITION,)
TOGETHER = (ORDER_COMBINED,)
