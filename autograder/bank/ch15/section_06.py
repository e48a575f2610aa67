"""Section 15.6, The failures: its questions."""

from __future__ import annotations

import math

from autograder.bank.ch15.inputs import DAY_MTBF, GPUS, MTBF, STALL
from autograder.items import Choice, Estimate, Landmark, Slip, lazily
from rankzero.facts.units import hour, minute, year

checkpoints = lazily("solutions.ch15.checkpointing")


def _young() -> float:
    return checkpoints.optimal_checkpoint_interval(STALL, DAY_MTBF, "young") / minute


QUESTIONS = (
    Estimate(
        id="cap-mtbf",
        title="How often does the job fail?",
        section="15.6",
        label="16,384 GPUs, with an average of one interruption per GPU in 5.8 years",
        unit="hours",
        answer=lambda: MTBF / hour,
        factor=1.5,
        scale=(1e-2, 1e5),
        landmarks=(
            Landmark(1.0, "1", "an hour"),
            Landmark(24.0, "24", "a day"),
            Landmark(730.0, "730", "a month"),
            Landmark(5.8 * year / hour, "50,800", "5.8 years"),
        ),
        slips=(
            Slip(
                "That divides by the root of the number of GPUs. Failures simply add up, so divide by the number.",
                value=lambda: MTBF * math.sqrt(GPUS) / hour,
            ),
            Slip("That is as if every node failed once in 5.8 years, not every GPU.", value=lambda: 8 * MTBF / hour),
        ),
        derivation=(
            "An interruption at any GPU stops the whole job. In 5.8 years there are 16,384 interruptions, so one comes "
            "every $5.8 \\cdot 365 \\cdot 24 / 16384$ hours."
        ),
    ),
    Estimate(
        id="cap-young",
        title="How often should this job save?",
        section="15.6",
        label="work between two saves, when a save stops the job for 98 s and it fails once a day",
        unit="min",
        answer=_young,
        factor=1.6,
        scale=(1.0, 2000.0),
        landmarks=(
            Landmark(98 / 60, "1.6", "one save"),
            Landmark(60.0, "60", "an hour"),
            Landmark(1440.0, "1,440", "the time between two failures"),
        ),
        slips=(
            Slip(
                "There the saves take 1 percent of the time, but each failure loses 80 minutes on average, which is "
                "more than 5 percent of a day. Save more often.",
                value=100 * STALL / minute,
            ),
            Slip(
                "There each failure loses only 8 minutes on average, but a tenth of the time goes into saving.",
                value=10 * STALL / minute,
            ),
            Slip(
                "That saves only twice for each failure: repeated work adds a quarter of the time.",
                value=DAY_MTBF / 2 / minute,
            ),
        ),
        derivation=(
            "With $\\tau$ minutes between saves, saving costs $98\\,\\mathrm{s}/\\tau$ of the time and repeated work "
            "$\\tau/2$ a day. Near an hour both are about 2.5 percent. Away from that, one falls and the other grows "
            "faster."
        ),
    ),
    Choice(
        id="cap-double",
        kind="design",
        title="Twice the GPUs",
        section="15.6",
        options=(
            "the best interval shrinks by a factor of √2, and the waste grows by √2",
            "the best interval is halved, and the waste stays what it was",
            "the best interval is halved, and the waste doubles as well",
            "neither changes, because the checkpoint is as large as before",
        ),
        correct=0,
        derivation=(
            "Twice the GPUs halve $M$ and leave $C$ alone. Young's interval $\\sqrt{2CM}$ shrinks by $\\sqrt 2$. At "
            "that interval both halves of the waste are $\\sqrt{C/(2M)}$, so their sum grows by $\\sqrt 2$."
        ),
        slips={
            1: "Half the interval doubles the share of saving, so the waste cannot stay the same.",
            2: "Halving the interval saves too often: the root in the formula halves only if M falls to a quarter.",
            3: "The checkpoint costs the same, but failures come twice as often.",
        },
    ),
)
