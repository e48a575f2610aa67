"""The capstone: the questions about what failures and the run cost."""

from __future__ import annotations

from autograder.bank.ch15.inputs import DAY_MTBF, GPUS, RESTART, STALL, part
from autograder.bank.ch15.scale_questions import saved_dollars
from autograder.items import Question, lazily
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


COSTS = (
    Question(
        id="cap-crash",
        kind="derive",
        title="What one failure costs",
        section="15.22",
        bonus=True,
        parts=(
            part(
                "expected",
                "$",
                _crash,
                ("A whole segment is not lost every time.", 512 * 2 * (4115 + STALL + RESTART) / hour),
                ("Half an interval, without checkpoint and restart.", 512 * 2 * 4115 / 2 / hour),
                ("The restart is missing: the job stops for that long.", lambda: _crash() - 512 * 2 * RESTART / hour),
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
                ("That leaves out the writing, which costs just as much.", lambda: 30 * _crash()),
                ("The restarts are missing.", lambda: _month() * _young_waste(0) / 100),
            ),
        ),
        derivation="512 GPUs, 30 days, 2 dollars an hour; times the exact waste at $\\tau = 4115$ s, with $C = 98$ "
        "s, $M = 24$ h and $R = 120$ s.",
    ),
    Question(
        id="cap-90",
        kind="derive",
        title="More than 90 percent effective",
        section="15.22",
        bonus=True,
        parts=(
            part(
                "at most lost per interruption",
                "min",
                lambda: 0.1 * facts.WINDOW / facts.INTERRUPTIONS / minute,
                ("Planned interruptions stop the job, too.", lambda: 0.1 * facts.WINDOW / facts.UNEXPECTED / minute),
                ("That is all of the window, not a tenth.", lambda: facts.WINDOW / facts.INTERRUPTIONS / minute),
            ),
        ),
        derivation="A tenth of 54 days over 466 interruptions.",
    ),
)

BILL = (
    Question(
        id="cap-kwh",
        kind="derive",
        title="Electricity of 77 days",
        section="15.24",
        bonus=True,
        parts=(
            part(
                "energy",
                "kWh",
                lambda: GPUS * 0.7 * 77 * 24,
                ("Close, but not this product: multiply again.", 21_233_448),
                tolerance=1e-4,
            ),
            part(
                "cost",
                "$",
                lambda: GPUS * 0.7 * 77 * 24 * 0.05,
                ("Close, but not this product: multiply again.", 21_233_448 * 0.05),
                tolerance=1e-4,
            ),
        ),
        derivation="$16384 \\cdot 0.7 \\cdot 77 \\cdot 24$ kWh, at 0.05 dollars each.",
    ),
    Question(
        id="cap-mfu-point",
        kind="derive",
        title="One point of MFU",
        section="15.24",
        bonus=True,
        parts=(
            part(
                "saved",
                "million $",
                saved_dollars,
                (
                    "That is one percent of the bill: one point of 40 is 2.5 percent.",
                    lambda: 41 * saved_dollars() / 100,
                ),
            ),
        ),
        derivation="$\\frac{6ND}{\\text{peak} \\cdot 3600}\\left(\\frac1{0.40} - \\frac1{0.41}\\right)$ GPU-hours at 2 "
        "dollars, with $N$ = 404e9, $D$ = 15.6e12 and 989.4 TFLOP/s.",
    ),
)
