"""Section 12.9, PPO: use a batch more than once: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Part, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")


QUESTIONS = (
    Choice(
        id="12-clip-table",
        kind="trace",
        title="Four samples",
        section="12.9",
        options=("the first and the last", "all four", "the first alone", "the second and the third"),
        correct=0,
        derivation="The smaller of two terms counts. The clipped one is the smaller where the ratio has already "
        "moved the way the advantage wants: up with a positive one, down with a negative one.",
        slips={
            1: "All four ratios are outside; but where a ratio moved against its advantage, the plain term is "
            "the smaller.",
            2: "A ratio that has fallen with a negative advantage has gone as far as it should, too.",
            3: "There the ratio moved against its advantage: the gradient pulls it back with full force.",
        },
    ),
    Question(
        id="12-clip-five",
        kind="derive",
        title="Far out on the wrong side",
        section="12.9",
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
        section="12.9",
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
    Question(
        id="12-optimizer-steps",
        kind="derive",
        title="Steps of one iteration",
        section="12.9",
        parts=(
            Part(
                "optimizer steps",
                "steps",
                lambda: 8 * 32 // 64 * 20,
                tolerance=0,
                slips=(
                    Slip("That is one step for each epoch: an epoch has several minibatches.", value=20),
                    Slip("That is one epoch.", value=4),
                    Slip("A step takes a minibatch, not a sample.", value=8 * 32 * 20),
                ),
            ),
            Part(
                "uses of one sample",
                "times",
                lambda: 20,
                tolerance=0,
                slips=(
                    Slip("Those are the optimizer steps: a sample is in one minibatch of each epoch.", value=80),
                    Slip("Every epoch goes through all samples again.", value=1),
                ),
            ),
        ),
        derivation="256 samples are four minibatches of 64. Each epoch uses every sample once.",
    ),
)
