"""The capstone: the questions about the checkpoint interval."""

from __future__ import annotations

from autograder.bank.ch15.inputs import DAY_MTBF, RESTART, STALL, part
from autograder.items import Choice, Question, lazily
from rankzero.facts.units import minute

checkpoints = lazily("solutions.ch15.checkpointing")


def _interval(stall: float, mtbf: float, method: str = "daly") -> float:
    return checkpoints.optimal_checkpoint_interval(stall, mtbf, method)


def _young_waste(restart: float = RESTART) -> float:
    return 100 * checkpoints.checkpoint_waste(_interval(STALL, DAY_MTBF, "young"), STALL, DAY_MTBF, restart)


def _first_order() -> float:
    """The first-order waste of the same run, in percent: writing, half an interval, and the restart, added up."""
    interval = _interval(STALL, DAY_MTBF, "young")
    return 100 * (STALL / interval + (interval / 2 + RESTART) / DAY_MTBF)


INTERVALS = (
    Question(
        id="cap-daly",
        kind="derive",
        title="Daly's interval",
        section="15.21",
        bonus=True,
        parts=(
            part(
                "interval",
                "min",
                lambda: _interval(STALL, DAY_MTBF) / minute,
                ("That is from start to start: subtract C.", lambda: (_interval(STALL, DAY_MTBF) + STALL) / minute),
                ("That is Young's.", lambda: _interval(STALL, DAY_MTBF, "young") / minute),
                tolerance=0.005,
            ),
        ),
        derivation="$\\sqrt{2CM}\\,(1 + \\sqrt{x}/3 + x/9) - C$ with $x = C/(2M)$, $C = 98$ s and $M = 24$ h.",
    ),
    Choice(
        id="cap-half",
        kind="trace",
        title="Writing and rework at Young's interval",
        section="15.21",
        bonus=True,
        options=(
            "as much rework as writing, to first order",
            "no rework worth counting: writing is the whole cost",
            "twice as much rework as writing",
            "half as much rework as writing",
        ),
        correct=0,
        derivation="Where $C/\\tau + \\tau/(2M)$ is least, its derivative is zero: $C/\\tau^2 = 1/(2M)$, so that the "
        "two terms are equal.",
        slips={
            1: "Each failure loses half an interval on average: that is the other term.",
            2: "Half an interval is lost, not a whole one.",
            3: "Set the derivative of the sum to zero, then compare its two terms.",
        },
    ),
    Question(
        id="cap-waste",
        kind="derive",
        title="Waste at Young's interval",
        section="15.21",
        bonus=True,
        parts=(
            part(
                "share of the wall-clock",
                "%",
                _young_waste,
                ("That is the writing alone.", lambda: 100 * STALL / _interval(STALL, DAY_MTBF, "young")),
                ("That is idle over useful time.", lambda: 100 / (100 / _young_waste() - 1)),
                ("The restarts are missing.", lambda: _young_waste(0)),
                ("That is the first-order sum; the exact expectation is asked for.", _first_order),
            ),
        ),
        derivation="$$1 - \\frac{\\tau\\,e^{-R/M}}{M\\,(e^{(\\tau + C)/M} - 1)}$$\n\nat $\\tau = \\sqrt{2CM}$, with "
        "$C = 98$ s, $M = 24$ h and $R = 120$ s.",
    ),
    Choice(
        id="cap-regime",
        kind="trace",
        title="A checkpoint of half an hour",
        section="15.21",
        bonus=True,
        options=(
            "C is not small against M: the best interval is shorter, and most of the time is wasted anyway",
            "nothing is wrong with it: the job should save every hour",
            "the units: Young takes hours, and gives minutes",
            "the best interval is longer, because checkpoints are expensive",
        ),
        correct=0,
        derivation="Young's $\\sqrt{2CM}$ is the first order for $C \\ll M$. With $C = 30$ min and $M = 1$ h it "
        "gives an interval as long as the MTBF. Minimize the exact expectation instead and look at what is left.",
        slips={
            1: "An interval as long as the MTBF loses most segments.",
            2: "Any one unit will do.",
            3: "Beyond C = M/2 Young is already longer than the MTBF; the exact optimum never is.",
        },
    ),
    Question(
        id="cap-every-1000",
        kind="derive",
        title="Every thousand steps",
        section="15.21",
        bonus=True,
        parts=(
            part(
                "every 1,000 steps",
                "%",
                lambda: 100 * checkpoints.checkpoint_waste(10_000, STALL, DAY_MTBF, RESTART),
                ("That is the writing alone.", 100 * STALL / 10_000),
                ("The restarts are missing.", lambda: 100 * checkpoints.checkpoint_waste(10_000, STALL, DAY_MTBF)),
            ),
            part(
                "at Daly's interval",
                "%",
                lambda: 100 * checkpoints.checkpoint_waste(_interval(STALL, DAY_MTBF), STALL, DAY_MTBF, RESTART),
                ("That is the writing alone.", lambda: 100 * STALL / _interval(STALL, DAY_MTBF)),
                (
                    "The restarts are missing.",
                    lambda: 100 * checkpoints.checkpoint_waste(_interval(STALL, DAY_MTBF), STALL, DAY_MTBF),
                ),
            ),
        ),
        derivation="$$1 - \\frac{\\tau\\,e^{-R/M}}{M\\,(e^{(\\tau + C)/M} - 1)}$$\n\nat $\\tau = 1000 \\cdot 10$ s "
        "and at Daly's, with $C = 98$ s, $M = 24$ h and $R = 120$ s.",
    ),
)
