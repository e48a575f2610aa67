"""Section 10.17, The loop in numbers: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily
from rankzero.facts.units import ms

scheduling = lazily("solutions.ch10.scheduling")


def _overlapped(steps: int, schedule: float, compute: float, post: float) -> float:
    return scheduling.overlap_time(steps, schedule * ms, compute * ms, post * ms)


def _pace() -> float:
    """Seconds of one more step in the steady state: schedule 6, compute 5, post 1 ms."""
    return (_overlapped(1000, 6, 5, 1) - _overlapped(500, 6, 5, 1)) / 500


QUESTIONS = (
    Question(
        id="10-overhead-def",
        kind="derive",
        title="Overhead of what",
        section="10.17",
        bonus=True,
        ask="share of the step",
        unit="",
        answer=lambda: 2 / (2 + 10),
        slips=(Slip("That is a share of the compute time; the step is both.", value=0.2),),
        derivation="CPU over CPU and compute together: $2/(2+10)$.",
    ),
    Question(
        id="10-overlap-20",
        kind="derive",
        title="Twenty steps that overlap",
        section="10.17",
        bonus=True,
        ask="time",
        unit="s",
        answer=lambda: _overlapped(20, 2, 10, 1),
        slips=(
            Slip("Processing overlaps too: step N's results are read while step N+1 runs.", value=0.222),
            Slip("The first schedule and the last processing have nothing to hide behind.", value=0.2),
            Slip("That is one after the other.", value=0.26),
        ),
        derivation="Compute is longer than both CPU parts together, so all of them hide behind it but the first "
        "schedule and the last processing: $s + n\\,c + p$.",
    ),
    Question(
        id="10-overlap-cpu-bound",
        kind="derive",
        title="A slow CPU",
        section="10.17",
        bonus=True,
        ask="one step, in the steady state",
        unit="s",
        answer=_pace,
        slips=(
            Slip("The CPU does both jobs: scheduling and processing.", value=0.006),
            Slip("The device waits for the CPU here.", value=0.005),
            Slip("The device's part is hidden behind the CPU's.", value=0.012),
        ),
        derivation="The longer side sets the pace: $\\max(c, s + p)$.",
    ),
)
