"""Section 13.6, Where you put it: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-right-loss",
        kind="trace",
        title="Four programs are left",
        section="13.6",
        options=(
            "k2 as a loss, and no other",
            "k3 as a loss, and no other",
            "both uses of k3: it estimates the divergence without bias",
            "k2 in the reward, and no other",
        ),
        correct=0,
        derivation="$k_2 = d^2/2$ has the gradient $d\\,\\nabla\\log\\pi$: each outcome's score times its log-ratio, "
        "which is $k_1$ in the reward. $k_3$ has $(1 - \\pi_{\\text{ref}}/\\pi)\\nabla\\log\\pi$. The 1 has the mean "
        "0, and the rest is $-\\sum \\pi_{\\text{ref}} \\nabla\\log\\pi$, the gradient of the other divergence. In "
        "the reward an estimate has to weigh the score with $d$; $k_2$ and $k_3$ are other numbers.",
        slips={
            1: "Its gradient is that of the other divergence, KL(ref||pi).",
            2: "Its mean is right. That says nothing about its gradient, as k1 as a loss shows.",
            3: "It weighs the score with d^2/2, which has no sign: it pushes down what is far in either direction.",
        },
    ),
)
