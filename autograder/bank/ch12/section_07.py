"""Section 12.7, The clip, in six regions: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")


QUESTIONS = (
    Question(
        id="12-clip-five",
        kind="derive",
        title="Far out on the wrong side",
        section="12.7",
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
        id="12-outside-share",
        kind="trace",
        title="Forty percent outside",
        section="12.7",
        options=(
            "at most 40 %, and often clearly less",
            "40 %",
            "60 %",
            "none: the minimum always leaves one of the two terms",
        ),
        correct=0,
        derivation="Outside the range, only samples that moved with their advantage have no gradient. Those that "
        "moved against it have the whole one. Inside the range, all have one.",
        slips={
            1: "That counts every ratio outside. One that moved against its advantage is pulled back with its "
            "whole gradient.",
            2: "Inside the range both terms are equal, and their gradient is that of the plain objective.",
            3: "Where the clipped term is the smaller one it is constant: its gradient is 0.",
        },
    ),
)
