"""The capstone: the questions about failures and about writing checkpoints."""

from __future__ import annotations

from autograder.bank.ch15.inputs import GPUS, MTBF, part
from autograder.items import Question, lazily
from rankzero.facts.units import GB, minute

checkpoints = lazily("solutions.ch15.checkpointing")
facts = lazily("solutions.ch15.llama_405b")

#: The MTBF of 100,000 GPUs that fail as often as those of Llama 3.1 405B.
MTBF_100K = MTBF * GPUS / 100_000


def _interval(stall: float, mtbf: float, method: str = "daly") -> float:
    return checkpoints.optimal_checkpoint_interval(stall, mtbf, method)


def _first_order(stall: float, flush: float = 0.0) -> float:
    """First-order waste, in percent, at Young's interval for the stall."""
    interval = _interval(stall, MTBF, "young")
    return 100 * (stall / interval + (interval / 2 + flush) / MTBF)


def _share(causes: int, total: int = 419) -> float:
    return 100 * causes / total


def _gpu_causes() -> int:
    return sum(cause.count for cause in facts.CAUSES if cause.kind == "GPU")


FAILURES = (
    Question(
        id="cap-table5",
        kind="debug",
        title="Two percentages of a table",
        section="15.19",
        bonus=True,
        parts=(
            part(
                "faulty GPUs",
                "%",
                lambda: _share(148),
                ("That is the misprint; 148 of 419 is more.", 30.1),
                ("The shares are of the unexpected interruptions, 419.", lambda: _share(148, 466)),
            ),
            part(
                "all GPU causes",
                "%",
                lambda: _share(_gpu_causes()),
                ("That sums the printed percentages, misprint and all.", 58.7),
                ("The shares are of the unexpected interruptions, 419.", lambda: _share(_gpu_causes(), 466)),
            ),
        ),
        derivation="Counts over the total of unexpected interruptions, 419. Faulty GPUs: 148. GPU causes are those, "
        "their HBM3 (72), SRAM (19), system processor (17), silent data corruption (6) and thermal interface (6).",
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
                lambda: _interval(60, MTBF_100K) / minute,
                ("The interval falls with the root of the GPUs.", lambda: _interval(60, MTBF) * GPUS / 1e5 / minute),
                ("That is Young's.", lambda: _interval(60, MTBF_100K, "young") / minute),
            ),
            part(
                "waste at that interval",
                "%",
                lambda: 100 * checkpoints.checkpoint_waste(_interval(60, MTBF_100K), 60, MTBF_100K, 300),
                (
                    "The restarts are missing.",
                    lambda: 100 * checkpoints.checkpoint_waste(_interval(60, MTBF_100K), 60, MTBF_100K),
                ),
            ),
        ),
        derivation="54 days over 419, times 16,384 over 100,000. With a stall of 60 s, $\\sqrt{2CM}\\,(1 + "
        "\\sqrt{x}/3 + x/9) - C$ and $x = C/(2M)$; then $1 - \\tau e^{-R/M} / (M (e^{(\\tau + C)/M} - 1))$ with $R = "
        "300$ s.",
    ),
)

WRITING = (
    Question(
        id="cap-70b-size",
        kind="derive",
        title="What a checkpoint holds",
        section="15.5",
        parts=(
            part("with bf16 weights", "GB", lambda: 70e9 * 14 / GB, ("Gradients are not saved.", 70e9 * 16 / GB)),
            part(
                "without",
                "GB",
                lambda: 70e9 * 12 / GB,
                ("Master copy and two moments are 4 bytes each.", 70e9 * 8 / GB),
            ),
        ),
        derivation="Per parameter: master copy 4 bytes, two moments 4 each, and 2 for bf16 weights, which are a cast "
        "of the master copy; 70e9 parameters.",
    ),
    Question(
        id="cap-70b-write",
        kind="derive",
        title="64 writers, one storage",
        section="15.20",
        bonus=True,
        parts=(
            part(
                "time",
                "s",
                lambda: checkpoints.checkpoint_write_time(70e9, 14, 64, 10 * GB, 10 * GB),
                ("Writers do not multiply the storage.", 980 / 640),
            ),
        ),
        derivation="980 GB over the slower of 64 links of 10 GB/s each and a storage of 10 GB/s in all.",
    ),
    Question(
        id="cap-async",
        kind="design",
        title="Writing in the background",
        section="15.20",
        bonus=True,
        parts=(
            part(
                "stall of 120 s",
                "%",
                lambda: _first_order(120),
                ("That is the writing alone: work that is done again comes on top.", lambda: _first_order(120) / 2),
            ),
            part(
                "stall of 2 s, flush of 118 s",
                "%",
                lambda: _first_order(2, 118),
                ("The newest safe checkpoint is older by the flush.", lambda: _first_order(2)),
            ),
        ),
        derivation="$$\\frac{C}{\\tau} + \\frac{\\tau/2 + \\text{flush}}{M}$$\n\nat $\\tau = \\sqrt{2CM}$, $C$ the "
        "stall, with $M$ = 54 days over 419 and no restart.",
    ),
)
