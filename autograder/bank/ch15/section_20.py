"""Section 15.20, Writing in parallel and in the background: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import MTBF, part
from autograder.bank.ch15.quantities import interval_of
from autograder.items import Question, Slip, lazily
from rankzero.facts.units import GB

checkpoints = lazily("solutions.ch15.checkpointing")


def _first_order(stall: float, flush: float = 0.0) -> float:
    """First-order waste, in percent, at Young's interval for the stall."""
    interval = interval_of(stall, MTBF, "young")
    return 100 * (stall / interval + (interval / 2 + flush) / MTBF)


QUESTIONS = (
    Question(
        id="cap-70b-size",
        kind="derive",
        title="What a checkpoint holds",
        section="15.20",
        bonus=True,
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
        ask="time",
        unit="s",
        answer=lambda: checkpoints.checkpoint_write_time(70e9, 14, 64, 10 * GB, 10 * GB),
        slips=(Slip("Writers do not multiply the storage.", value=980 / 640),),
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
