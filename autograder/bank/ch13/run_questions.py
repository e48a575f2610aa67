"""Chapter 13: the questions about the live runs: passes, what travels, reward hacking, best-of-n."""

from __future__ import annotations

import math

from autograder.items import Choice, Item, Part, Question, Slip, lazily

stored = lazily("solutions.ch13.beta_sweep")

#: The prices that the question offers.
OFFERED = (0.0, 0.02, 0.1, 0.5)

EPOCHS = 4


PASSES = Question(
    id="13-passes",
    kind="derive",
    title="Passes of an iteration",
    section="13.4",
    parts=(
        Part(
            "forward",
            "passes over the batch",
            lambda: 4 + 2 * EPOCHS,
            tolerance=0,
            slips=(
                Slip("Those are the passes before anything is learnt: each epoch adds two.", value=4),
                Slip("The epochs alone: the old log-probabilities, reference, reward and critic come first.", value=8),
                Slip("That is one epoch.", value=6),
                Slip("Reference and reward model do not run again in the epochs: nothing of theirs changes.", value=20),
            ),
        ),
        Part(
            "backward",
            "passes over the batch",
            lambda: 2 * EPOCHS,
            tolerance=0,
            slips=(
                Slip("That is one epoch.", value=2),
                Slip("That is the actor alone: the critic learns, too.", value=4),
                Slip("Reference and reward model are frozen: no gradient flows into them.", value=16),
            ),
        ),
    ),
    derivation="Before learning, one forward pass each of the actor (old log-probabilities), the reference, the reward "
    "model and the critic. Then every epoch takes one forward and one backward pass of the actor and of the critic.",
)

TRAFFIC = Choice(
    id="13-traffic",
    kind="trace",
    title="What travels in a step",
    section="13.4",
    options=(
        "Tokens, log-probabilities, values and scores.",
        "Tokens and logits.",
        "Tokens and the weights of the actor.",
        "Tokens, scores and the gradients of all four models.",
    ),
    correct=0,
    slips={
        1: "Logits are one number for each word of the vocabulary: the model that computes them keeps the one that it "
        "needs, the log-probability of the token.",
        2: "No weights change hands inside a step. (When the engine that generates holds a copy of its own, weights "
        "travel to it between steps: the next chapter.)",
        3: "Two models have no gradients, and those of the other two stay with them.",
    },
    derivation="Every model reads the tokens. What it says of them fits a number per token, or one per response. "
    "Losses need nothing else.",
)

BETA_ZERO = Choice(
    id="13-beta-zero",
    kind="trace",
    title="Sixty iterations without a price",
    section="13.11",
    options=(
        "The score goes up, the judge ends below where it started.",
        "Both go up.",
        "Both go down.",
        "The score goes down, the judge goes up.",
    ),
    correct=0,
    slips={
        1: "For the first iterations, yes. Then the policy reaches sentences that the reward model has never seen.",
        2: "The score is what training raises: it does not fall.",
        3: "Training climbs the score, and knows nothing of the judge.",
    },
    derivation="Only the score is optimised. As long as the policy writes what the reference could have written, score "
    "and judge agree. Nothing keeps it there.",
)

BETA_TEN = Choice(
    id="13-beta-ten",
    kind="trace",
    title="A price of ten",
    section="13.11",
    options=(
        "Nearly the reference.",
        "All probability on the response with the highest reward.",
        "All responses alike probable.",
    ),
    correct=0,
    slips={
        1: "That is the other end: beta near 0.",
        2: "Distance is counted from the reference, not from the uniform distribution.",
    },
    derivation="The best policy is proportional to $\\pi_{\\mathrm{ref}}(x)\\, e^{r(x)/\\beta}$. With $\\beta = 10$ "
    "and rewards of a few units, the second factor is close to the same for all.",
)

FIND_BETA = Question(
    id="13-find-beta",
    kind="design",
    title="A price for every seed",
    section="13.11",
    parts=(
        Part(
            "beta",
            "reward per nat",
            lambda: stored.best_beta(OFFERED),
            tolerance=0,
            slips=(
                Slip("That one has the highest score of the reward model, which is what went wrong.", value=0.0),
                Slip("One of its seeds ends well; the other decides.", value=0.02),
                Slip("That stays closest to the reference, and gives up what could be had.", value=0.5),
            ),
        ),
    ),
    derivation="For each beta, take the lower of the judge's two means at the end, then the beta where it is highest.",
)

BEST_OF_N = Question(
    id="13-bon",
    kind="derive",
    title="Best of sixteen",
    section="13.11",
    parts=(
        Part(
            "KL to the reference, at most",
            "nats",
            lambda: math.log(16) - 15 / 16,
            tolerance=0.001,
            slips=(
                Slip(
                    "That is ln n: the density n F^(n-1) is that high for the very best alone.",
                    value=lambda: math.log(16),
                ),
                Slip("The fraction is (n - 1)/n, not 1.", value=lambda: math.log(16) - 1),
                Slip("That is in bits.", value=lambda: math.log2(16) - 15 / 16),
            ),
        ),
    ),
    derivation="The best of $n$ is drawn with density $n F^{n-1}$ against the reference, where $F$ is its rank between "
    "0 and 1. $\\int_0^1 n F^{n-1} \\ln(n F^{n-1})\\, dF = \\ln n - (n-1)/n$. Ties make it less.",
)

RUN_QUESTIONS: tuple[Item, ...] = (PASSES, TRAFFIC, BETA_ZERO, BETA_TEN, FIND_BETA, BEST_OF_N)
