"""Section 14.3, One GPU, three tenants in turn: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-leaves",
        kind="design",
        title="What has to leave",
        section="14.3",
        options=(
            "What is made anew: caches, the copy, gradients and activations",
            "These, and the optimizer states",
            "The optimizer states alone",
            "These, the optimizer states, and the reference and the reward model",
        ),
        correct=0,
        derivation="While answers are written, everything that lasts may stay: 2.2 GB three times and 13.2 GB of "
        "optimizer states, beside 17.6 and 40 GB of copy and caches, make 77.5 of 80 GB. Nothing has to be copied.",
        slips={
            1: "They may stay: 77.5 of 80 GB are taken while answers are written.",
            2: "Then caches and the copy are still there during training, beside the optimizer states: 92 GB.",
            3: "That frees more than is needed, and copies 17.6 GB out and in for each iteration.",
        },
    ),
)
