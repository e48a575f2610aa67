"""Section 7.22, Capacity and balance: its questions."""

from __future__ import annotations

from autograder.bank.ch07.quantities import EXPERTS, TOKENS, TOP_K, load_chances
from autograder.items import Estimate, Landmark, Question, Slip, lazily

experts = lazily("solutions.ch07.experts")


def dropped_percent() -> float:
    """Percent of the assignments beyond an even share, on average, when every token draws its experts at random."""
    share = TOKENS * TOP_K // EXPERTS
    return 100 * sum(max(0, load - share) * chance for load, chance in enumerate(load_chances())) / share


QUESTIONS = (
    Question(
        id="07-capacity",
        kind="derive",
        title="Room in an expert",
        section="7.22",
        bonus=True,
        ask="per expert",
        unit="assignments",
        answer=lambda: experts.expert_capacity(4096, 64, 2, 1.25),
        tolerance=0,
        slips=(
            Slip("Each token makes two choices.", value=lambda: experts.expert_capacity(4096, 64, 1, 1.25)),
            Slip(
                "That divides the tokens by 8: two choices of each are shared by 64 experts.",
                value=lambda: experts.expert_capacity(4096, 8, 1, 1.25),
            ),
            Slip("That is without the factor.", value=lambda: experts.expert_capacity(4096, 64, 2)),
        ),
        derivation="$\\lceil c\\,T k / E \\rceil$ with $c = 1.25$, $T = 4096$, $k = 2$, $E = 64$.",
    ),
    Estimate(
        id="07-fair-drops",
        title="Drops of a fair router",
        section="7.22",
        bonus=True,
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
