"""Section 7.9, When an expert is full: its questions."""

from __future__ import annotations

import math

from autograder.items import Estimate, Landmark, Slip

#: A mixture: tokens, experts, experts of one token.
TOKENS, EXPERTS, TOP_K = 512, 64, 2


def dropped_percent(tokens: int = TOKENS, experts: int = EXPERTS, top_k: int = TOP_K) -> float:
    """Percent of the assignments beyond an even share, on average, when every token draws its experts at random."""
    share, chance = tokens * top_k // experts, top_k / experts
    over = 0.0
    for load in range(share + 1, tokens + 1):
        ways = math.lgamma(tokens + 1) - math.lgamma(load + 1) - math.lgamma(tokens - load + 1)
        over += (load - share) * math.exp(ways + load * math.log(chance) + (tokens - load) * math.log1p(-chance))
    return 100 * over / share


QUESTIONS = (
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
