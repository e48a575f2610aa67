"""Section 4.8, Will it scale?: its questions."""

from __future__ import annotations

from autograder.bank.ch04.quantities import NVLINK, RATE, levels, seconds
from autograder.items import Estimate, Landmark, Slip
from rankzero.facts.units import GB, billion


def balanced(flops: int, size: float = 20 * GB) -> float:
    """Tokens whose computation takes as long as the two-level all-reduce of the gradients of 10 billion parameters."""
    return levels(size) * RATE / (flops * 10 * billion)


QUESTIONS = (
    Estimate(
        id="04-tokens-to-balance",
        title="How many tokens pay for the all-reduce?",
        section="4.8",
        label="tokens per GPU per step at which computation takes as long as communication",
        unit="tokens",
        answer=lambda: balanced(6),
        factor=1.6,
        scale=(10.0, 1e6),
        landmarks=(
            Landmark(100.0, "100", "a paragraph"),
            Landmark(4096.0, "4,096", "one long sequence"),
            Landmark(1e5, "100,000", "a large batch"),
        ),
        slips=(
            Slip(
                "That counts the forward pass alone: forward and backward together take 6 FLOP per parameter and "
                "token.",
                value=lambda: balanced(2),
            ),
            Slip("That sends 4 bytes per parameter: bf16 gradients have 2.", value=lambda: balanced(6, 40 * GB)),
            Slip(
                "That is the balance inside one node, without the network.",
                value=lambda: seconds("ring", 20 * GB, 8, NVLINK) * RATE / (6 * 10 * billion),
            ),
        ),
        derivation=(
            "One token costs $6 \\cdot 10^{10}$ FLOP, so a GPU that achieves $495 \\cdot 10^{12}$ FLOP/s computes "
            "about 8 tokens per millisecond. How many does it compute while the 20 GB of gradients are all-reduced in "
            "165 ms?"
        ),
    ),
)
