"""Section 8.12, Memory beside the weights: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip
from rankzero.facts.units import GB


def _whole_requests() -> tuple[float, float]:
    """Bytes of one full request, and bytes that the weights leave: 32 layers of width 8,192 on 80 GB."""
    weights = 2 * 12 * 32 * 8192**2
    return 2 * 2 * 32 * 8192 * 32_768, 80 * GB - weights


QUESTIONS = (
    Question(
        id="08-kv-exercise",
        kind="derive",
        title="Beside the weights",
        section="8.12",
        ask="full requests",
        unit="requests",
        answer=lambda: _whole_requests()[1] // _whole_requests()[0],
        tolerance=0.0,
        slips=(
            Slip("The weights take their memory first.", value=lambda: 80 * GB // _whole_requests()[0]),
            Slip("Not even one: keys and values are two, of two bytes a number; do not round up.", value=1),
        ),
        derivation="Keys and values of a token: $2 \\cdot 32 \\cdot 8192 \\cdot 2$ bytes, one MiB; of a full request "
        "$32768$ times that. The weights take $2 \\cdot 12 \\cdot 32 \\cdot 8192^2$ bytes. Divide what is left of 80 "
        "GB by a request, and round down.",
        bonus=True,
    ),
)
