"""Section 12.8, Four loops, one pole: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="12-four-loops",
        kind="trace",
        title="Furthest behind",
        section="12.8",
        options=(
            "the actor with a critic and one step a batch",
            "REINFORCE",
            "REINFORCE with a baseline",
            "PPO: it tries too much with too little",
        ),
        correct=0,
        derivation="It learns from advantages that a critic made of 256 steps, while the critic still knows "
        "nothing, and takes one small step from each: 39 in all.",
        slips={
            1: "Its weights are noisy. But they are what really came, and sixteen whole episodes are in each step.",
            2: "The baseline takes away noise and adds nothing wrong.",
            3: "Twenty steps from a batch do go far, and ratios and the clip keep count of it.",
        },
    ),
    Choice(
        id="12-first-minibatch",
        kind="trace",
        title="The first minibatch",
        section="12.8",
        options=(
            "none is outside; the step is one of a plain actor-critic",
            "none is outside; the step is one of supervised learning",
            "a fifth is outside; the step is a clipped one",
            "all are outside; no sample has a gradient",
        ),
        correct=0,
        derivation="Before the first step of an iteration the policy is the one that drew the actions: every "
        "ratio is 1. The gradient of $\\rho A$ is then that of $A \\ln\\pi$.",
        slips={
            1: "Right about the ratios; but the samples are weighted with advantages, not all alike.",
            2: "0.2 is the width of the range and no share of the samples.",
            3: "The policy has not moved yet: every ratio is 1.",
        },
    ),
)
