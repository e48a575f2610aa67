"""Chapter 11: the questions about one round, its distribution, and what moves the acceptance."""

from __future__ import annotations

from functools import partial

from autograder.items import Choice, Item, Part, Question, Slip, lazily

speculative = lazily("solutions.ch11.speculative")

P, Q = (0.5, 0.3, 0.2, 0.0), (0.25, 0.25, 0.25, 0.25)

#: A target's row that rejects token 0.
NOT_0 = (0.0, 0.5, 0.5, 0.0)


def _residual(token: int) -> float:
    return speculative.residual_distribution(P, Q)[token]


def _kept(token: int) -> float:
    """The distribution of a token that is redrawn from p when it is rejected."""
    alpha = speculative.acceptance_probability(P, Q)
    return min(P[token], Q[token]) + (1 - alpha) * P[token]


def _distance() -> float:
    return sum(abs(P[token] - _kept(token)) for token in range(4)) / 2


ROUND: tuple[Item, ...] = (
    Choice(
        id="11-why-fast",
        kind="trace",
        title="Why verification is cheap",
        section="11.1",
        options=(
            "a decode step is bound by reading the weights, which five positions share",
            "a decode step is bound by its matrix products, which are fast for five positions",
            "the draft model is fast",
            "the keys and values of the five positions are in the cache",
        ),
        correct=0,
        derivation="One pass reads every weight once, for one position or for five. While that reading takes longer "
        "than the products, four more positions are almost free.",
        slips={
            1: "If products were the bound, five positions would cost five times as much.",
            2: "The draft's speed says what drafting costs; the target's pass is another matter.",
            3: "They are new: the pass computes them. The cache holds those of the tokens before.",
        },
    ),
    Question(
        id="11-three-of-five",
        kind="trace",
        title="Five drafted, the fourth rejected",
        section="11.2",
        parts=(
            Part(
                "tokens",
                "tokens",
                lambda: len(speculative.speculative_step([0] * 5, [Q] * 5, [*[P] * 3, NOT_0, P, P], [0.5] * 6)),
                tolerance=0,
                slips=(
                    Slip("The correction is a token, too.", value=3),
                    Slip("What was drafted after the rejected token is dropped.", value=5),
                ),
            ),
            Part(
                "draft passes",
                "passes",
                lambda: 5,
                tolerance=0,
                slips=(
                    Slip("Each drafted token needs the one before it: a pass each.", value=1),
                    Slip("The fifth was drafted, too: the verdict comes after the drafts.", value=4),
                ),
            ),
            Part(
                "target passes",
                "passes",
                lambda: 1,
                tolerance=0,
                slips=(Slip("One pass scores all positions at once.", value=5),),
            ),
        ),
        derivation="Three drafts are kept, the residual of the fourth gives one token, the fifth is dropped. The draft "
        "model ran for every token, the target once.",
    ),
    Question(
        id="11-alpha",
        kind="derive",
        title="Acceptance and residual",
        section="11.2",
        parts=(
            Part(
                "acceptance",
                "probability",
                lambda: speculative.acceptance_probability(P, Q),
                tolerance=0.005,
                slips=(
                    Slip("That is how likely two independent draws are equal.", value=0.25),
                    Slip("That is how likely the token is rejected.", value=0.3),
                ),
            ),
            Part(
                "residual of token 0",
                "probability",
                lambda: _residual(0),
                tolerance=0.005,
                slips=(
                    Slip("That is p: only what the draft leaves missing is redrawn.", value=0.5),
                    Slip("Divide by the sum of what is missing.", value=0.25),
                ),
            ),
            Part(
                "residual of token 1",
                "probability",
                lambda: _residual(1),
                tolerance=0.005,
                slips=(
                    Slip("That is p: only what the draft leaves missing is redrawn.", value=0.3),
                    Slip("Divide by the sum of what is missing.", value=0.05),
                ),
            ),
        ),
        derivation="$\\alpha = \\sum_x \\min(p(x), q(x))$. What is missing is $\\max(0, p - q)$: a quarter at token 0 "
        "and a twentieth at token 1, to be divided by their sum.",
    ),
    Question(
        id="11-wrong-residual",
        kind="derive",
        title="Redrawn from p",
        section="11.3",
        parts=(
            *(
                Part(
                    f"token {token}",
                    "probability",
                    partial(_kept, token),
                    slips=(
                        Slip("That is p, and would be right: but p was already served by the drafts.", value=P[token]),
                    ),
                )
                for token in range(3)
            ),
            Part(
                "total variation from p",
                "probability",
                _distance,
                slips=(
                    Slip("The tokens are not distributed as p any more.", value=0),
                    Slip("Half of the summed difference.", value=lambda: 2 * _distance()),
                ),
            ),
        ),
        derivation="A token comes out of a draft that is accepted, $\\min(p, q)$, or of a replacement, $(1 - "
        "\\alpha)\\,p$. Total variation is half the sum of all differences from $p$.",
    ),
    Choice(
        id="11-temperature-0",
        kind="trace",
        title="Temperature 0",
        section="11.5",
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
        section="11.5",
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

ITEMS = ROUND
