"""Section 13.23, Where the ratio is taken, and what bounds it: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Estimate, Landmark, Slip

#: How far the log-probabilities of two engines differ from token to token, nats, and the length of an answer.
NOISE, TOKENS = 0.02, 1000

QUESTIONS = (
    Choice(
        id="13-rare-word",
        kind="trace",
        title="A rare word that became likelier",
        section="13.23",
        bonus=True,
        options=(
            "under a capped weight and under a gate, and not under the clip or the mask",
            "under the clip, because the advantage is positive, and not under the others",
            "under none of the four: a ratio of 1.5 is outside of all ranges",
            "under all four, only with less weight",
        ),
        correct=0,
        derivation="The clip replaces the term by the constant 1.2, the mask leaves it out: no gradient. A capped "
        "weight multiplies the log-probability by 1.2, and that has a gradient; a gate bends and has no edge.",
        slips={
            1: "It is there that the clip is flat: a positive advantage, and a ratio above 1.2.",
            2: "A gate has no range, and a cap on a weight limits the push and does not end it.",
            3: "A clipped term is a constant, and a masked one is gone.",
        },
    ),
    Estimate(
        id="13-whole-noise",
        title="Noise of a whole answer",
        section="13.23",
        bonus=True,
        label="standard deviation of the log of a whole answer's ratio, to the power of 1 over its length",
        unit="nats",
        answer=lambda: NOISE / math.sqrt(TOKENS),
        factor=2.0,
        scale=(1e-5, 10),
        landmarks=(
            Landmark(3e-4, "3e-4", "the lower end of GSPO's clip range"),
            Landmark(0.02, "0.02", "the noise of one token"),
            Landmark(0.2, "0.2", "the clip range of PPO"),
        ),
        derivation="The log of the ratio is the mean of 1,000 independent numbers: $0.02/\\sqrt{1000}$.",
        slips=(
            Slip("That is one token: the mean of many varies less.", value=NOISE),
            Slip("That is the sum over the answer: the power of 1 over the length makes it a mean.", value=0.632),
            Slip("A mean of independent numbers falls with the root of their count.", value=NOISE / TOKENS),
        ),
    ),
    Choice(
        id="13-whose-settings",
        kind="design",
        title="Whose settings are these",
        section="13.23",
        bonus=True,
        options=(
            "TRL's GRPO: groups with the deviation, the mean over tokens, one pass, no price",
            "GRPO as published in 2024: groups with the deviation, the mean of each response, a price in the loss",
            "Dr. GRPO: groups without the deviation, a constant",
            "prime-rl: groups without the deviation, tokens far from the writer masked out",
        ),
        correct=0,
        derivation="`num_iterations=1` is one pass over a rollout, `beta=0.0` means that no reference is loaded, "
        '`loss_type="dapo"` is the mean over all tokens of the batch, and `scale_rewards="group"` divides by the '
        "group's deviation. With one pass in one piece every ratio is 1, and `epsilon` does nothing.",
        slips={
            1: "That has a price on distance, and takes the mean of each response first.",
            2: "That does not divide by the deviation: `scale_rewards` would be none, the loss `dr_grpo`.",
            3: "prime-rl subtracts the group's mean alone, and has no clip of this kind.",
        },
    ),
)
