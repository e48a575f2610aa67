"""Section 13.8, From tokens to one number: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-longer-wrong",
        kind="trace",
        title="A thousand steps of the mean by response",
        section="13.8",
        options=(
            "longer: a wrong answer is punished less for each word, the longer it is",
            "shorter: a long wrong answer has more words that are punished",
            "neither: each answer counts the same",
            "longer, and right answers too, by as much",
        ),
        correct=0,
        derivation="An answer's push is divided by its own length. Of two wrong answers the shorter one has the "
        "stronger push on each of its words, so what makes an answer end early is unlearned faster. For right "
        "answers it is the other way round: the short ones are praised more for each word.",
        slips={
            1: "More words, and each is pushed less by the same factor: the sum is the same for both.",
            2: "As a whole, yes. But words are what a model chooses, one at a time.",
            3: "For right answers the sign turns: the shorter one is praised more for each word.",
        },
    ),
    Choice(
        id="13-whose-settings",
        kind="design",
        title="Whose settings are these",
        section="13.8",
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
