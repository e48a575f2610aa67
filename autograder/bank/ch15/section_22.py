"""Section 15.22, Thousands of failures: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import DAY_MTBF, RESTART, STALL, part
from autograder.items import Question, Slip, lazily
from rankzero.facts.units import hour, minute

checkpoints = lazily("solutions.ch15.checkpointing")
facts = lazily("solutions.ch15.llama_405b")


def _interval(stall: float, mtbf: float, method: str = "daly") -> float:
    return checkpoints.optimal_checkpoint_interval(stall, mtbf, method)


def _young_waste(restart: float = RESTART) -> float:
    return 100 * checkpoints.checkpoint_waste(_interval(STALL, DAY_MTBF, "young"), STALL, DAY_MTBF, restart)


def _crash() -> float:
    return checkpoints.failure_cost(_interval(STALL, DAY_MTBF, "young"), STALL, DAY_MTBF, RESTART, 512, 2)


def _month() -> float:
    return 512 * 30 * 24 * 2


QUESTIONS = (
    Question(
        id="cap-90",
        kind="derive",
        title="More than 90 percent effective",
        section="15.22",
        bonus=True,
        ask="at most lost per interruption",
        unit="min",
        answer=lambda: 0.1 * facts.WINDOW / facts.INTERRUPTIONS / minute,
        slips=(
            Slip(
                "Planned interruptions stop the job, too.", value=lambda: 0.1 * facts.WINDOW / facts.UNEXPECTED / minute
            ),
            Slip("That is all of the window, not a tenth.", value=lambda: facts.WINDOW / facts.INTERRUPTIONS / minute),
        ),
        derivation="A tenth of 54 days over 466 interruptions.",
    ),
    Question(
        id="cap-crash",
        kind="derive",
        title="What one failure costs",
        section="15.22",
        bonus=True,
        ask="expected",
        unit="$",
        answer=_crash,
        slips=(
            Slip("A whole segment is not lost every time.", value=512 * 2 * (4115 + STALL + RESTART) / hour),
            Slip("Half an interval, without checkpoint and restart.", value=512 * 2 * 4115 / 2 / hour),
            Slip(
                "The restart is missing: the job stops for that long.",
                value=lambda: _crash() - 512 * 2 * RESTART / hour,
            ),
        ),
        derivation="$M - \\ell/(e^{\\ell/M} - 1)$ with $\\ell = \\tau + C$, about half of $\\ell$, plus $R$; times 512 "
        "GPUs at 2 dollars per hour. $\\tau = 4115$ s, $C = 98$ s, $R = 120$ s, $M = 24$ h.",
    ),
    Question(
        id="cap-month",
        kind="derive",
        title="A month of it",
        section="15.22",
        bonus=True,
        parts=(
            part("bill", "$", _month, ("That is one GPU.", 30 * 24 * 2), tolerance=1e-4),
            part(
                "wasted",
                "$",
                lambda: _month() * _young_waste() / 100,
                ("That leaves out the writing, which costs nearly as much.", lambda: 30 * _crash()),
                ("The restarts are missing.", lambda: _month() * _young_waste(0) / 100),
            ),
        ),
        derivation="512 GPUs, 30 days, 2 dollars an hour; times the exact waste at $\\tau = 4115$ s, with $C = 98$ "
        "s, $M = 24$ h and $R = 120$ s.",
    ),
)
