"""Section 12.8, PPO: use a batch more than once: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")

QUESTIONS = (
    Question(
        id="12-clip-five",
        kind="derive",
        title="Far out on the wrong side",
        section="12.8",
        ask="objective",
        unit="reward",
        answer=lambda: rl.ppo_clip_objective([math.log(0.5)], [math.log(0.1)], [-1.0]).objective,
        tolerance=1e-6,
        slips=(
            Slip("That is clipped without the minimum: the larger loss counts.", value=-1.2),
            Slip("An advantage of -1 makes it negative.", value=5),
            Slip("That is clipped at the other edge.", value=-0.8),
        ),
        derivation="$\\min(\\rho A, \\mathrm{clip}(\\rho) A)$ with $\\rho A = 5\\cdot(-1)$ and $1.2\\cdot(-1)$.",
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
