"""Section 8.14, Static batches: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

serving = lazily("solutions.ch08.serving")


def _idle(policy: str) -> float:
    """Share of idle slot-steps: 50 requests on 8 slots."""
    lengths = serving.workload()
    steps = max(finish for _, finish in getattr(serving, f"{policy}_batching")(lengths, 8))
    return 1 - sum(lengths) / (steps * 8)


QUESTIONS = (
    Question(
        id="08-waste",
        kind="derive",
        title="Idle slot-steps",
        section="8.14",
        ask="idle share",
        unit="",
        answer=lambda: _idle("continuous"),
        tolerance=0.01,
        slips=(
            Slip("That counts occupied slots only, and so is always zero: all slots count.", value=0),
            Slip("That is the static run.", value=lambda: _idle("static")),
            Slip("That is the busy share.", value=lambda: 1 - _idle("continuous")),
        ),
        derivation="$1 - 3266 / (542 \\cdot 8)$: useful slot-steps are tokens, all slot-steps are steps times slots.",
        bonus=True,
    ),
)
