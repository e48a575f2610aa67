"""Section 4.12, Knobs: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip

QUESTIONS = (
    Question(
        id="04-ll",
        kind="derive",
        title="What low latency costs",
        section="4.12",
        bonus=True,
        parts=(
            Part(
                "LL, as a fraction",
                "",
                lambda: 4 / 8,
                tolerance=0,
                slips=(Slip("That is upside down: the share is data bytes over all bytes.", value=2),),
            ),
            Part(
                "LL128, as a fraction",
                "",
                lambda: 120 / 128,
                tolerance=0.001,
                slips=(
                    Slip("That is the share of the flags.", value=8 / 128),
                    Slip("That divides by 1,000: a line has 128 bytes.", value=0.12),
                ),
            ),
        ),
        derivation="Data bytes over all bytes: LL sends a flag with each 4 bytes of data, LL128 one of 8 bytes in a "
        "line of 128.",
    ),
)
