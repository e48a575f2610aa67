"""Section 14.8, The tail: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

schedule = lazily("solutions.ch14.rlhf_schedule")


def _stale() -> int:
    run = schedule.simulate_async([9] + [1] * 11, 2, 2, 1, 1, 0, 1)
    return max(max(step[2]) for step in run.steps)


QUESTIONS = (
    Question(
        id="14-straggler",
        kind="derive",
        title="Slots that wait",
        section="14.8",
        ask="slot use while the batch is generated",
        unit="%",
        answer=lambda: 100 * 650 / 4096,
        tolerance=0.01,
        slips=(
            Slip("Mean over longest, not one half.", value=50),
            Slip("That is the share in which they wait.", value=lambda: 100 - 100 * 650 / 4096),
        ),
        derivation="The batch lasts as long as its longest response. In that time its slots could write $64 \\cdot "
        "4096$ tokens, and write $64 \\cdot 650$.",
    ),
    Question(
        id="14-sim",
        kind="trace",
        title="One straggler under bound 1",
        section="14.8",
        ask="largest staleness of a trained response",
        unit="versions",
        answer=_stale,
        tolerance=0,
        slips=(
            Slip("The bound limits how far production runs ahead, not one sample's age.", value=1),
            Slip("Count the steps that end while the straggler is written.", value=9),
        ),
        derivation="The straggler starts with version 0 and takes the time of nine others. Meanwhile the other slot "
        "feeds the trainer, two responses a step; count the steps that have ended when the trainer takes the "
        "straggler.",
    ),
)
