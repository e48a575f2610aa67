"""Section 9.19, Fewer bits: its questions."""

from __future__ import annotations

from autograder.bank.ch09.quantities import per_token
from autograder.items import Part, Question, Slip
from rankzero.facts.models import LLAMA3_70B

QUESTIONS = (
    Question(
        id="09-quant",
        kind="derive",
        title="Scales are bytes, too",
        section="9.19",
        parts=(
            Part(
                "int8",
                "B",
                lambda: per_token(LLAMA3_70B, 1) + 2 * per_token(LLAMA3_70B, 1) / 128,
                tolerance=0,
                slips=(
                    Slip(
                        "The scales are missing: 2 bytes for every 128 values.", value=lambda: per_token(LLAMA3_70B, 1)
                    ),
                ),
            ),
            Part(
                "int4",
                "B",
                lambda: per_token(LLAMA3_70B, 0.5) + 2 * per_token(LLAMA3_70B, 1) / 32,
                tolerance=0,
                slips=(
                    Slip(
                        "The scales are missing: 2 bytes for every 32 values.", value=lambda: per_token(LLAMA3_70B, 0.5)
                    ),
                    Slip(
                        "A scale serves 32 values here, not 128.",
                        value=lambda: per_token(LLAMA3_70B, 0.5) + 2 * per_token(LLAMA3_70B, 1) / 128,
                    ),
                ),
            ),
        ),
        derivation="A token has $2 \\cdot 80 \\cdot 8 \\cdot 128$ values. int8: one byte each, and two for every 128. "
        "int4: half a byte each, and two for every 32.",
        bonus=True,
    ),
)
