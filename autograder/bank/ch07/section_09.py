"""Section 7.9, The busiest expert: its questions."""

from __future__ import annotations

from autograder.bank.ch07.quantities import EXPERTS, TOKENS, TOP_K, load_chances
from autograder.items import Estimate, Landmark, Slip


def busiest_percent() -> float:
    """By how many percent the fullest expert exceeds an even share, on average, if every token draws at random."""
    below, least = 0.0, 0.0
    for chance in load_chances():
        below += chance
        least += 1 - min(1.0, below) ** EXPERTS  # the chance that some expert has more
    return 100 * (least / (TOKENS * TOP_K / EXPERTS) - 1)


QUESTIONS = (
    Estimate(
        id="07-slowest-rank",
        title="The busiest GPU of a fair router",
        section="7.9",
        label="rows of the busiest GPU beyond the even share",
        unit="%",
        answer=busiest_percent,
        factor=1.7,
        scale=(0.1, 1000.0),
        landmarks=(
            Landmark(1.0, "1", "a hundredth more"),
            Landmark(10.0, "10", "a tenth more"),
            Landmark(100.0, "100", "twice the share"),
        ),
        slips=(
            Slip("That is about one typical deviation, 4 of 16. The largest of 64 deviations is larger.", value=20.0),
            Slip("Chance does not even out that far: 16 expected rows scatter by about 4.", value=1.0),
            Slip(
                "That would be dozens of rows more, where 4 are typical. Chance alone does not go that far.",
                value=300.0,
            ),
        ),
        derivation=(
            "An expert expects 16 of the 1,024 assignments. Random counts scatter around their mean by about its "
            "square root, here 4. On a bell curve, the largest of 64 draws is on average 2.3 deviations above the "
            "mean. These counts are a little skewed, so it is about 10 rows more than 16. A single draw, as in the run "
            "below, may be some rows off."
        ),
    ),
)
