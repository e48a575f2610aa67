"""Section 10.4, The loop around the model: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip

QUESTIONS = (
    Question(
        id="10-overhead-def",
        kind="derive",
        title="Overhead of what",
        section="10.4",
        ask="share of the step",
        unit="",
        answer=lambda: 2 / (2 + 10),
        slips=(Slip("That is a share of the compute time; the step is both.", value=0.2),),
        derivation="CPU over CPU and compute together: $2/(2+10)$.",
    ),
)
