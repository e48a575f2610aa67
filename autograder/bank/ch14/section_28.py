"""Section 14.28, The same weights, other experts: its questions."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Slip

QUESTIONS = (
    Estimate(
        id="14-flip-share",
        title="A flip in one of 48 layers",
        section="14.28",
        bonus=True,
        label="tokens with another set of experts in at least one layer",
        unit="%",
        answer=lambda: 100 * (1 - 0.99**48),
        factor=1.2,
        scale=(0.1, 100.0),
        landmarks=(Landmark(1.0, "1 %", "in one layer"), Landmark(100.0, "100 %", "all tokens")),
        slips=(
            Slip("That adds the layers up, and counts a token twice that flips in two of them.", value=48.0),
            Slip("That is one layer. A token passes 48.", value=1.0),
        ),
        derivation="A token keeps its experts in all layers with probability $0.99^{48}$, 62 percent.",
    ),
    Choice(
        id="14-fp16",
        kind="design",
        title="Three bits more",
        section="14.28",
        bonus=True,
        options=(
            "They are about 8 times smaller",
            "They stay as they are: both formats have 16 bits",
            "They are about 256 times smaller",
            "They grow, because of the smaller range",
        ),
        correct=0,
        derivation="Three significant bits more make each rounding error $2^3$ times smaller, as long as nothing "
        "leaves the range.",
        slips={
            1: "Both have 16, but bf16 spends 8 of them on the exponent and fp16 five.",
            2: "That would be 8 bits more. It is 11 against 8.",
            3: "The range matters for numbers that are tiny or huge, gradients above all. These are neither.",
        },
    ),
    Choice(
        id="14-replayed",
        kind="design",
        title="What is replayed",
        section="14.28",
        bonus=True,
        options=(
            "Which experts worked; their gates are computed from the trainer's own scores",
            "Which experts worked, and the gates with which the engine weighted them",
            "The engine's scores for all experts, from which the trainer chooses again",
            "The outputs of the experts",
        ),
        correct=0,
        derivation="The choice is what jumps. Gates that the trainer computes differ by rounding only, and carry the "
        "gradient to the router.",
        slips={
            1: "Gates from outside are constants: the router would get no gradient.",
            2: "The trainer would choose the same experts, but its router would get no gradient.",
            3: "Those depend on the weights that are to be trained, and would take as many bytes as the activations.",
        },
    ),
)
