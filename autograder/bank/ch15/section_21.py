"""Section 15.21, The best interval, exactly: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import DAY_MTBF, GPUS, MTBF, RESTART, STALL, part
from autograder.bank.ch15.quantities import interval_of
from autograder.items import Choice, Question, Slip, lazily
from rankzero.facts.units import minute

checkpoints = lazily("solutions.ch15.checkpointing")

#: The MTBF of 100,000 GPUs that fail as often as those of Llama 3.1 405B.
MTBF_100K = MTBF * GPUS / 100_000


def _interval(stall: float, mtbf: float, method: str = "daly") -> float:
    return checkpoints.optimal_checkpoint_interval(stall, mtbf, method)


def _young_waste(restart: float = RESTART) -> float:
    return 100 * checkpoints.checkpoint_waste(_interval(STALL, DAY_MTBF, "young"), STALL, DAY_MTBF, restart)


def _first_order() -> float:
    """The first-order waste of the same run, in percent: writing, half an interval, and the restart, added up."""
    interval = _interval(STALL, DAY_MTBF, "young")
    return 100 * (STALL / interval + (interval / 2 + RESTART) / DAY_MTBF)


QUESTIONS = (
    Question(
        id="cap-daly",
        kind="derive",
        title="Daly's interval",
        section="15.21",
        bonus=True,
        ask="interval",
        unit="min",
        answer=lambda: _interval(STALL, DAY_MTBF) / minute,
        tolerance=0.005,
        slips=(
            Slip(
                "That is from start to start: subtract C.", value=lambda: (_interval(STALL, DAY_MTBF) + STALL) / minute
            ),
            Slip("That is Young's.", value=lambda: _interval(STALL, DAY_MTBF, "young") / minute),
        ),
        derivation="$\\sqrt{2CM}\\,(1 + \\sqrt{x}/3 + x/9) - C$ with $x = C/(2M)$, $C = 98$ s and $M = 24$ h.",
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
        ask="share of the wall-clock",
        unit="%",
        answer=_young_waste,
        slips=(
            Slip("That is the writing alone.", value=lambda: 100 * STALL / _interval(STALL, DAY_MTBF, "young")),
            Slip("That is idle over useful time.", value=lambda: 100 / (100 / _young_waste() - 1)),
            Slip("The restarts are missing.", value=lambda: _young_waste(0)),
            Slip("That is the first-order sum; the exact expectation is asked for.", value=_first_order),
        ),
        derivation="$$1 - \\frac{\\tau\\,e^{-R/M}}{M\\,(e^{(\\tau + C)/M} - 1)}$$\n\nat $\\tau = \\sqrt{2CM}$, with "
        "$C = 98$ s, $M = 24$ h and $R = 120$ s.",
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
    Question(
        id="cap-100k",
        kind="derive",
        title="A hundred thousand GPUs",
        section="15.21",
        bonus=True,
        parts=(
            part("MTBF", "min", lambda: MTBF_100K / minute, ("That is the MTBF of 16,384.", MTBF / minute)),
            part(
                "Daly's interval",
                "min",
                lambda: interval_of(60, MTBF_100K) / minute,
                ("The interval falls with the root of the GPUs.", lambda: interval_of(60, MTBF) * GPUS / 1e5 / minute),
                ("That is Young's.", lambda: interval_of(60, MTBF_100K, "young") / minute),
            ),
            part(
                "waste at that interval",
                "%",
                lambda: 100 * checkpoints.checkpoint_waste(interval_of(60, MTBF_100K), 60, MTBF_100K, 300),
                (
                    "The restarts are missing.",
                    lambda: 100 * checkpoints.checkpoint_waste(interval_of(60, MTBF_100K), 60, MTBF_100K),
                ),
            ),
        ),
        derivation="54 days over 419, times 16,384 over 100,000. With a stall of 60 s, $\\sqrt{2CM}\\,(1 + "
        "\\sqrt{x}/3 + x/9) - C$ and $x = C/(2M)$; then $1 - \\tau e^{-R/M} / (M (e^{(\\tau + C)/M} - 1))$ with $R = "
        "300$ s.",
    ),
)
