"""Section 10.20, One step ahead: its question."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily

scheduling = lazily("solutions.ch10.scheduling")


def _long_run() -> float:
    """Milliseconds that one more step adds."""
    return float(scheduling.overlap_time(101, 4, 5, 2) - scheduling.overlap_time(100, 4, 5, 2))


QUESTIONS = (
    Question(
        id="10-ahead-step",
        kind="derive",
        title="A step, one ahead",
        section="10.20",
        bonus=True,
        parts=(
            Part(
                "a step, in the long run",
                "ms",
                _long_run,
                0.01,
                (
                    Slip("That is in turn: nothing overlaps.", value=11.0),
                    Slip("That is the device alone: the CPU has more to do, and sets the pace.", value=5.0),
                    Slip("Processing is the CPU's as well: schedule and process come one after the other.", value=4.0),
                ),
            ),
        ),
        derivation="The CPU schedules and processes, one after the other; the device computes at the same time. The "
        "slower of the two sets the pace.",
    ),
)
