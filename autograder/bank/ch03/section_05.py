"""Section 3.5, The star, and why not: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip

QUESTIONS = (
    Question(
        id="03-star",
        kind="derive",
        title="All through rank 0",
        section="3.5",
        parts=(
            Part(
                "received plus sent by rank 0",
                "GB",
                lambda: 2 * (8 - 1) * 1.0,
                slips=(
                    Slip("That counts one direction: rank 0 both receives and sends.", value=7.0),
                    Slip("Rank 0 does not send to itself.", value=16.0),
                ),
            ),
            Part(
                "times the traffic of any other rank",
                "x",
                lambda: 2 * (8 - 1) / 2,
                slips=(
                    Slip("Another rank moves 2 GB: it sends its tensor, and it receives the sum.", value=14.0),
                    Slip("Seven ranks share that link, not eight: rank 0 sends nothing to itself.", value=8.0),
                ),
            ),
        ),
        derivation="Rank 0 takes in $N-1$ tensors and then sends out $N-1$ sums. Every other rank sends one tensor and "
        "receives one sum. The busiest rank moves $N-1$ times as much as any other, and the others wait for it.",
    ),
)
