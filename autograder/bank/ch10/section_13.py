"""Section 10.13, The scheduler as one class: its questions."""

from __future__ import annotations

from autograder.bank.ch10.quantities import FULL, prefill
from autograder.items import Part, Question, Slip
from rankzero.facts.models import LLAMA3_8B
from rankzero.facts.units import GB

#: PCIe 5, sixteen lanes, one direction, as the page uses it.
PCIE = 63 * GB


def _swap(tokens: int) -> float:
    """Seconds in which the KV of so many tokens crosses PCIe in one direction; bf16."""
    model = LLAMA3_8B
    return tokens * 2 * 2 * model.layers * model.kv_heads * model.head_dim / PCIE


QUESTIONS = (
    Question(
        id="10-swap",
        kind="design",
        title="Swap or recompute",
        section="10.13",
        bonus=True,
        parts=(
            Part(
                "swap, one way",
                "s",
                lambda: _swap(4096),
                tolerance=0.02,
                slips=(
                    Slip("That is there and back: one way is half of it.", value=lambda: 2 * _swap(4096)),
                    Slip(
                        "That takes the hidden size: keys and values have 8 heads of 128.",
                        value=lambda: LLAMA3_8B.hidden / (LLAMA3_8B.kv_heads * LLAMA3_8B.head_dim) * _swap(4096),
                    ),
                    Slip("Keys and values: both must move.", value=lambda: _swap(4096) / 2),
                ),
            ),
            Part(
                "recompute",
                "s",
                lambda: prefill(4096),
                tolerance=0.02,
                slips=(
                    Slip("That leaves attention out: $2 L d s^2$.", value=lambda: prefill(4096, False)),
                    Slip(FULL, value=lambda: 2 * prefill(4096) - prefill(4096, False)),
                ),
            ),
        ),
        derivation="KV of a token: $2 \\cdot 2 L\\, n_{kv}\\, d_h$ bytes in bf16, over the bandwidth; it must come "
        "back too, over a link that others use. Recomputing is a prefill, $(2 N s + 2 L d s^2)/F$, and rides along in "
        "the budget of other steps.",
    ),
)
