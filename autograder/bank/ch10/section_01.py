"""Section 10.1, Somebody pastes a book: its questions."""

from __future__ import annotations

from autograder.bank.ch10.quantities import prefill
from autograder.items import Estimate, Landmark, Slip
from rankzero.facts.units import ms

QUESTIONS = (
    Estimate(
        id="10-stall-guess",
        title="How long does everybody wait?",
        section="10.1",
        label="time of one pass with a prompt of 4,000 tokens",
        unit="ms",
        answer=lambda: prefill(4000) / ms,
        factor=1.5,
        scale=(0.1, 10_000.0),
        landmarks=(
            Landmark(4.8, "4.8 ms", "reading the weights once"),
            Landmark(25.0, "25 ms", "a token every 25 ms: 40 a second"),
            Landmark(1000.0, "1 s", "a pause that everybody notices"),
        ),
        slips=(
            Slip("That is the time of reading the weights. 4,000 tokens are far beyond the ridge.", value=4.8),
            Slip(
                "That counts one FLOP for each weight and token: a multiplication and an addition are two.", value=32.5
            ),
        ),
        derivation="The matrices take $2 N s = 64$ TFLOP and causal attention $2 L d s^2 = 4$ more, at 989 TFLOP/s.",
    ),
)
