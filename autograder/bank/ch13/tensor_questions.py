"""Chapter 13: the questions about shapes, rewards of tokens, whitening, averages, groups and preferences."""

from __future__ import annotations

import math
from statistics import fmean, pstdev, stdev

from autograder.items import Choice, Part, Question, Slip

#: The batch of the questions about shapes: B, P, T, V.
RESPONSES, PROMPT, NEW, VOCABULARY = 4, 64, 100, 50_257

#: Log-ratios of the eight tokens of a response, its score and the price of a nat.
LOG_RATIOS = (-0.2, 0.2, -0.3, 0.1, -0.1, 0.1, 0.3, -0.3)
SCORE, BETA = 0.5, 0.02

#: Losses of the tokens of two responses.
LOSSES = ((1.0, 1.0), (2.0,) * 8)

#: Rewards of one group: one success.
ONE = (1.0, 0.0, 0.0, 0.0)


def score_after(beta: float, score: float = 0.85, kl: float = 0.45) -> float:
    return score - beta * kl


def grouped(deviation: float) -> float:
    """The advantage of the success in a group with one, for a deviation of its rewards."""
    return (1 - fmean(ONE)) / (deviation + 1e-4)


def leave_one_out() -> float:
    """The success against the mean of the others."""
    return ONE[0] - fmean(ONE[1:])


def adapted(error: float, rate: float = 0.1, beta: float = 0.2) -> float:
    return beta * (1 + rate * error)


BT = Question(
    id="13-bt",
    kind="derive",
    title="A gap of one",
    section="13.3",
    parts=(
        Part(
            "P(chosen is preferred)",
            "",
            lambda: 1 / (1 + math.exp(-1)),
            0.001,
            (
                Slip("That would be no gap at all.", value=0.5),
                Slip("That is the chance of the rejected one.", value=lambda: 1 / (1 + math.e)),
            ),
        ),
        Part(
            "loss of the pair",
            "nats",
            lambda: math.log1p(math.exp(-1)),
            0.001,
            (
                Slip("That is the loss without a gap.", value=lambda: math.log(2)),
                Slip("Chosen and rejected are swapped.", value=lambda: math.log1p(math.e)),
            ),
        ),
    ),
    derivation="The chance is the sigmoid of the gap, $\\sigma(1) = 1/(1 + e^{-1})$; the loss is the negative of its "
    "natural logarithm.",
)

_SHAPES: tuple[tuple[str, int, tuple[Slip, ...]], ...] = (
    ("tokens", RESPONSES * (PROMPT + NEW), (Slip("The models read the prompts, too.", value=RESPONSES * NEW),)),
    (
        "logits of the responses",
        RESPONSES * NEW * VOCABULARY,
        (Slip("The logits of the prompt are not needed.", value=RESPONSES * (PROMPT + NEW) * VOCABULARY),),
    ),
    (
        "log-probabilities of the responses",
        RESPONSES * NEW,
        (Slip("Of the whole vocabulary only the token that was written counts.", value=RESPONSES * NEW * VOCABULARY),),
    ),
    (
        "values",
        RESPONSES * NEW,
        (Slip("That is one for each response: the critic judges every prefix.", value=RESPONSES),),
    ),
    ("scores", RESPONSES, (Slip("The reward model judges a response once, when it is whole.", value=RESPONSES * NEW),)),
    ("advantages", RESPONSES * NEW, (Slip("Every token has an advantage of its own.", value=RESPONSES),)),
)

SHAPES = Question(
    id="13-shapes",
    kind="trace",
    title="How many numbers",
    section="13.4",
    parts=tuple(Part(label, "numbers", lambda count=count: count, 0, slips) for label, count, slips in _SHAPES),
    derivation="Tokens are $B \\times S$ with $S = P + T$. Logits of the responses are $B \\times T \\times V$. "
    "Log-probabilities, values and advantages have one number for each token of the responses, $B \\times T$; scores "
    "one for each response, $B$.",
)

LOGIT_BYTES = Question(
    id="13-logit-bytes",
    kind="derive",
    title="Bytes of logits",
    section="13.4",
    parts=(
        Part(
            "logits of the responses",
            "bytes",
            lambda: 4 * RESPONSES * NEW * VOCABULARY,
            0.001,
            (
                Slip(
                    "The logits of the prompt are counted, too: drop them early.",
                    value=4 * RESPONSES * (PROMPT + NEW) * VOCABULARY,
                ),
                Slip("That is two bytes each: float32 has four.", value=2 * RESPONSES * NEW * VOCABULARY),
            ),
        ),
    ),
    derivation="Four bytes for each of $B \\times T \\times V$ numbers. Log-probabilities of the same tokens are $V$ "
    "times smaller: gather them piece by piece and never keep the logits.",
)

REWARD_SUM = Question(
    id="13-reward-sum",
    kind="derive",
    title="What a response is paid",
    section="13.5",
    parts=(
        Part(
            "sum of the rewards",
            "",
            lambda: SCORE - BETA * math.fsum(LOG_RATIOS),
            1e-6,
            (
                Slip(
                    "The sign of the penalty is wrong: these tokens were less likely than under the reference.",
                    value=lambda: SCORE + BETA * math.fsum(LOG_RATIOS),
                ),
                Slip("That is the score alone.", value=SCORE),
                Slip("That is the sum of k1: it is priced with beta and joined with the score.", value=-0.2),
                Slip(
                    "The score is paid at every token: it belongs to the last.",
                    value=lambda: len(LOG_RATIOS) * SCORE - BETA * math.fsum(LOG_RATIOS),
                ),
            ),
        ),
    ),
    derivation="$\\sum_t r_t = \\text{score} - \\beta \\sum_t \\log(\\pi/\\pi_{ref})$. Add the eight log-ratios first.",
)

NEGATIVE_KL = Choice(
    id="13-negative-kl",
    kind="trace",
    title="A penalty that pays",
    section="13.5",
    options=(
        "k1 of one sample may be negative; only its mean over many is a KL divergence.",
        "The reference has a fault: a KL divergence is never negative.",
        "beta is too small.",
        "The response should have been masked.",
    ),
    correct=0,
    slips={
        1: "The divergence is never negative; a sample's log-ratio is, where the reference likes the token better.",
        2: "The sign of the penalty does not depend on beta.",
        3: "These are real tokens, and they count.",
    },
    derivation="k1 is $\\log \\pi - \\log \\pi_{ref}$ of one token. Where the reference finds the token more likely, "
    "it is below 0. Averaged over tokens that the policy draws, it is the divergence.",
)

PER_TOKEN = Question(
    id="13-per-token",
    kind="derive",
    title="Per token, per response",
    section="13.5",
    parts=(
        Part(
            "penalty of the response",
            "",
            lambda: 0.02 * 128 * 0.23,
            0.001,
            (Slip("That is one token.", value=0.02 * 0.23), Slip("Those are nats: beta is missing.", value=128 * 0.23)),
        ),
    ),
    derivation="$\\beta$ times the tokens times the nats of each.",
)

K1_BETA = Question(
    id="13-k1-beta",
    kind="derive",
    title="Four prices",
    section="13.5",
    parts=tuple(
        Part(
            f"beta {beta:g}",
            "",
            lambda beta=beta: score_after(beta),
            1e-6,
            (Slip("Distance costs: the penalty is taken away.", value=score_after(-beta)),) if beta else (),
        )
        for beta in (0.0, 0.1, 0.5, 1.0)
    ),
    derivation="Score minus $\\beta$ times the divergence of the response.",
)

WHITEN_ROW = Choice(
    id="13-whiten-row",
    kind="trace",
    title="Each response by itself",
    section="13.8",
    options=("The same, but for what eps does.", "Ten times smaller.", "The mirror image.", "Zero."),
    correct=0,
    slips={
        1: "They were, before they were divided by a deviation that is ten times smaller, too.",
        2: "That is what a reward of -1 would give.",
        3: "The four advantages differ from each other, so whitening spreads them out again.",
    },
    derivation="Whitening takes away the row's mean and divides by its deviation. A row that is ten times another one "
    "has ten times its mean and ten times its deviation: nothing is left of the factor. What the reward said is gone.",
)

AVERAGE = Question(
    id="13-average",
    kind="derive",
    title="Three averages",
    section="13.9",
    parts=(
        Part(
            "mean over tokens",
            "",
            lambda: fmean(loss for row in LOSSES for loss in row),
            1e-6,
            (Slip("That is the mean of the two means.", value=lambda: fmean(map(fmean, LOSSES))),),
        ),
        Part(
            "mean over responses of their means",
            "",
            lambda: fmean(map(fmean, LOSSES)),
            1e-6,
            (Slip("That is the mean over tokens.", value=lambda: fmean(loss for row in LOSSES for loss in row)),),
        ),
        Part(
            "sums divided by a constant 8, mean over responses",
            "",
            lambda: fmean(math.fsum(row) / 8 for row in LOSSES),
            1e-6,
            (Slip("Divide by 8 and by the two responses.", value=lambda: math.fsum(map(math.fsum, LOSSES)) / 8),),
        ),
    ),
    derivation="By token: all ten losses in one mean. By response: the mean of each, then the mean of these. By a "
    "constant: the sum of each over 8, then the mean of these.",
)

GRPO_ONE = Question(
    id="13-grpo-one",
    kind="derive",
    title="One success in four",
    section="13.12",
    parts=(
        Part(
            "advantage of the success",
            "",
            lambda: grouped(stdev(ONE)),
            0.001,
            (
                Slip("That is the deviation of a population: divide by G - 1.", value=lambda: grouped(pstdev(ONE))),
                Slip("It is still to be divided by the deviation of the group.", value=0.75),
                Slip("That is the success against the mean of the others, and not divided.", value=leave_one_out),
            ),
        ),
    ),
    derivation="The mean of the group is 1/4, the sum of squared differences $0.75^2 + 3 \\cdot 0.25^2$; divide it by "
    "3 and take the root for the deviation.",
)

GRPO_EQUAL = Question(
    id="13-grpo-equal",
    kind="derive",
    title="All right",
    section="13.12",
    parts=(
        Part(
            "advantage of each answer",
            "",
            lambda: 0.0,
            0,
            (Slip("That is the reward: the mean of the group is taken away.", value=1),),
        ),
    ),
    derivation="Every reward equals the mean. What eps adds to the deviation keeps 0/0 away, and the prompt teaches "
    "nothing.",
)

RLOO = Question(
    id="13-rloo",
    kind="derive",
    title="Leave one out",
    section="13.12",
    parts=(
        Part(
            "advantage of the success",
            "",
            leave_one_out,
            1e-6,
            (
                Slip("That is against the mean of all four, itself included.", value=0.75),
                Slip("It is not divided by a deviation.", value=lambda: grouped(stdev(ONE))),
            ),
        ),
    ),
    derivation="Its reward minus the mean of the three others. In general $G/(G-1)$ times the centred reward.",
)

ADAPTIVE_BETA = Question(
    id="13-adaptive-beta",
    kind="derive",
    title="A price that follows",
    section="13.13",
    parts=(
        Part(
            "the next beta",
            "",
            lambda: adapted(min(12 / 6 - 1, 0.2)),
            1e-6,
            (
                Slip("The error is clipped at 0.2 before it counts.", value=lambda: adapted(12 / 6 - 1)),
                Slip("The clipped error counts a tenth.", value=lambda: adapted(0.2, rate=1.0)),
                Slip("Too far from the reference: the price rises.", value=lambda: adapted(-0.2)),
            ),
        ),
    ),
    derivation="The relative error is $12/6 - 1$, clipped to 0.2; a tenth of it is added to 1.",
)
