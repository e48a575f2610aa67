"""Chapter 07: sizes to estimate before there is a formula for them."""

from __future__ import annotations

import math

from autograder.items import Estimate, Landmark, Slip, lazily

cost = lazily("solutions.ch03.collective_cost")

#: A stage of Llama 3 405B, and how many all-reduces tensor parallelism needs in a layer: 2 forward, 2 backward.
LAYERS, ALL_REDUCES, TP = 8, 4, 8
#: A mixture: tokens, experts, experts of one token.
TOKENS, EXPERTS, TOP_K = 512, 64, 2


def _inside_over_boundary() -> float:
    """Activations that tensor parallelism sends in a stage, over the two that the boundary sends."""
    return LAYERS * ALL_REDUCES * cost.traffic("all_reduce", 1.0, TP, 0)[0] / 2


def dropped_percent(tokens: int = TOKENS, experts: int = EXPERTS, top_k: int = TOP_K) -> float:
    """Percent of the assignments beyond an even share, on average, when every token draws its experts at random."""
    share, chance = tokens * top_k // experts, top_k / experts
    over = 0.0
    for load in range(share + 1, tokens + 1):
        ways = math.lgamma(tokens + 1) - math.lgamma(load + 1) - math.lgamma(tokens - load + 1)
        over += (load - share) * math.exp(ways + load * math.log(chance) + (tokens - load) * math.log1p(-chance))
    return 100 * over / share


ESTIMATES = (
    Estimate(
        id="07-boundary-guess",
        title="Inside a stage and between two",
        section="7.6",
        label="bytes that a rank sends for tensor parallelism, over the bytes of one boundary",
        unit="times",
        answer=_inside_over_boundary,
        factor=1.6,
        scale=(0.01, 1e4),
        landmarks=(
            Landmark(0.1, "0.1", "the boundary sends ten times as much"),
            Landmark(1.0, "1", "both send the same"),
            Landmark(100.0, "100", "the boundary hardly matters"),
        ),
        slips=(
            Slip(
                "That is a single layer. A stage has eight of them, and one boundary.",
                value=lambda: _inside_over_boundary() / LAYERS,
            ),
            Slip(
                "That counts half of each all-reduce. A ring sends almost every byte twice: once to add, once to "
                "hand out the sum.",
                value=lambda: _inside_over_boundary() / 2,
            ),
            Slip(
                "That counts the boundary once. The gradient comes back, and it is as large as the activation.",
                value=lambda: 2 * _inside_over_boundary(),
            ),
        ),
        derivation=(
            "Per micro-batch, the boundary sends one activation and one gradient of the same size. Inside the stage, "
            "each of 8 layers needs 4 all-reduces of an activation, and in each a rank sends $2 \\cdot \\frac{7}{8}$ "
            "of its size: $8 \\cdot 4 \\cdot 1.75$ activations against 2."
        ),
    ),
    Estimate(
        id="07-fair-drops",
        title="Drops of a fair router",
        section="7.9",
        label="assignments that find their expert full",
        unit="%",
        answer=dropped_percent,
        factor=1.7,
        scale=(1e-3, 100.0),
        landmarks=(
            Landmark(0.01, "0.01", "one of ten thousand"),
            Landmark(1.0, "1", "one of a hundred"),
            Landmark(50.0, "50", "every other one"),
        ),
        slips=(
            Slip(
                "About half of the experts get more than their share. But they drop only what is above it, not "
                "everything that they get.",
                value=50.0,
            ),
            Slip(
                "Chance does not even out that far. An expert gets 16 on average, give or take 4, and whatever is "
                "above 16 is lost.",
                value=0.1,
            ),
            Slip(
                "That is the typical deviation, 4 of 16. Half of the deviations are downward, and most are smaller.",
                value=25.0,
            ),
        ),
        derivation=(
            "An expert expects 16 of the 1,024 assignments. Random counts scatter around their mean by about its "
            "square root, here 4. Deviations upward are lost, those downward leave places empty. On a bell curve the "
            "upward half amounts, averaged over all experts, to 0.4 times that: $0.4 \\cdot 4 / 16$."
        ),
    ),
)

ITEMS = ESTIMATES
