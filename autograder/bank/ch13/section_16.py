"""Section 13.16, Six gradients by a formula: its questions."""

from __future__ import annotations

from autograder.items import Choice

#: The divergences of the two questions about a loss.
DIVERGENCES = ("zero", "the gradient of KL(policy||reference)", "the gradient of KL(reference||policy)")


QUESTIONS = (
    Choice(
        id="13-loss-k1",
        kind="trace",
        title="k1 as a loss",
        section="13.16",
        bonus=True,
        options=DIVERGENCES,
        correct=0,
        derivation="$k_1 = \\log\\pi - \\log\\pi_{\\text{ref}}$ has the gradient $\\nabla\\log\\pi$, the score, whose "
        "mean under the policy is 0.",
        slips={
            1: "k1 gives that in the reward, where it weighs the score.",
            2: "The reference enters k1 as a constant: its gradient does not know it.",
        },
    ),
    Choice(
        id="13-loss-k3",
        kind="trace",
        title="k3 as a loss",
        section="13.16",
        bonus=True,
        options=DIVERGENCES,
        correct=2,
        derivation="$\\nabla k_3 = (1 - \\pi_{\\text{ref}}/\\pi)\\nabla\\log\\pi$. The 1 has the mean 0; the rest is "
        "$-\\sum \\pi_{\\text{ref}} \\nabla\\log\\pi$, the gradient of $\\mathrm{KL}(\\pi_{\\text{ref}}\\|\\pi)$.",
        slips={
            0: "That is k1 as a loss. The slope of k3 is 1 - e^-d: it depends on the outcome.",
            1: "k3 estimates that divergence, yet its gradient belongs to the other one.",
        },
    ),
)
