"""Section 12.3, Which word earned it?: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip

QUESTIONS = (
    Estimate(
        id="12-gamma-long",
        title="A discount over a thousand tokens",
        section="12.3",
        label="share of the reward that token 1 sees",
        unit="of the reward",
        answer=lambda: 0.99**999,
        factor=3.0,
        scale=(1e-6, 1.0),
        landmarks=(
            Landmark(1.0, "1", "all of it"),
            Landmark(0.37, "1/e", "what a discount of 0.99 leaves after a hundred tokens"),
            Landmark(0.001, "0.001", "a thousandth"),
        ),
        slips=(
            Slip("That is one minus the discount: the discount is raised to the number of steps.", value=0.01),
            Slip("That is after a hundred tokens.", value=lambda: 0.99**100),
        ),
        derivation="Every step from token 1 to token 1,000 costs one factor of 0.99, so $0.99^{999}$.",
    ),
)
