"""Section 10.7, Who is late, the CPU or the GPU?: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip

#: Operations of the course's GPT with one layer, and those that each further layer adds, as the page records them.
FIRST_LAYER, LAYER = 66, 45

QUESTIONS = (
    Estimate(
        id="10-launches-guess",
        title="How many operations has a pass?",
        section="10.7",
        label="tensor operations of one pass, 32 layers",
        unit="operations",
        answer=lambda: FIRST_LAYER + 31 * LAYER,
        factor=2.0,
        scale=(10.0, 100_000.0),
        landmarks=(
            Landmark(32.0, "32", "one for each layer"),
            Landmark(224.0, "224", "seven matrix products a layer"),
            Landmark(10_000.0, "10,000", "300 a layer"),
        ),
        slips=(
            Slip(
                "Those are the products with weights alone. Norms, rotations and the softmax are operations, too.",
                value=224,
            ),
        ),
        derivation="45 operations a layer: 7 products with weights, 2 of attention, and 36 small ones for two norms, "
        "the rotation of queries and keys, the softmax, the gate and the sums. 21 more come before and after them.",
    ),
)
