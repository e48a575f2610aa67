"""Chapter 14: the design ``14-design-place``, GRPO on 64 GPUs, and ``14-reason-place``, why some answers get old."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from autograder.items import Axis, Choice, Design, Knob, Simulated, lazily
from rankzero.facts.units import GB, ms

if TYPE_CHECKING:
    from solutions.ch14.placed_job import Held, Plan

jobs = lazily("solutions.ch14.placed_job")

SECTION = "14.11"
#: Costs of what cannot be built.
NONE = (math.inf, math.inf)


def placed(writers: int, bound: int, training: int, road: int) -> Simulated:
    """What a plan for the 64 GPUs comes to."""
    plan: Plan = jobs.Plan(writers, bound, jobs.TRAININGS[training], jobs.ROADS[road])
    if bound and not writers:
        return Simulated("All 64 GPUs write, then all of them train.", NONE, "So nobody can be ahead: the bound is 0.")
    needs: Held = jobs.held(plan)
    lacking = needs.lacking()
    if lacking:
        return Simulated(_needs(needs, lacking, plan), NONE, _larger(needs, lacking))
    found = jobs.simulated(plan)
    waits = max(0.0, found.seconds - found.train - found.move)
    told = (
        f"A token takes {found.token / ms:.1f} ms. In an update, training takes {found.train:.1f} s and the way of the "
        f"weights {found.move:.2f} s; the trainer waits for {waits:.1f} s. Of 100 answers, 99 are learned from within "
        f"{found.staleness + 1} update{'s' if found.staleness else ''} after the weights that began them."
    )
    return Simulated(told, (found.seconds, found.staleness + 1))


def _needs(needs: Held, lacking: str, plan: Plan) -> str:
    """What does not fit on which GPU, bytes of both parts."""
    if lacking in ("states", "activations"):
        return (
            f"Each of the {jobs.GPUS - plan.writers} GPUs that train needs {needs.states / GB:.0f} GB for the states "
            f"and {needs.activations / GB:.0f} GB for activations."
        )
    return (
        f"Each of the {plan.writers} GPUs that write needs {needs.copy / GB:.0f} GB for its slice of the weights and "
        f"{needs.caches / GB:.0f} GB for caches."
    )


def _larger(needs: Held, lacking: str) -> str:
    """The sentence about the constraint that binds."""
    names = {"states": "states", "activations": "activations", "copy": "weights", "caches": "caches"}
    return f"But {jobs.USABLE / GB:.0f} GB may be used. The larger part: {names[lacking]}."


QUESTIONS = (
    Design(
        id="14-design-place",
        title="Lay out GRPO with a 70B model on 64 GPUs",
        section=SECTION,
        knobs=(
            Knob("writers", "GPUs that only write; 0: all take turns (`writers`)", (0, 8, 16, 24, 32, 40)),
            Knob("bound", "batches that writing may be ahead (`bound`)", (0, 1, 2, 4)),
            Knob("training", "training: 0 FSDP, 1 TP 2 and FSDP, 2 TP 8 and ZeRO-1 (`training`)", (0, 1, 2)),
            Knob("road", "weights: 0 over rank 0, 1 broadcast by all, 2 slices (`road`)", (0, 1, 2)),
        ),
        axes=(Axis("an update", "s"), Axis("age of the oldest but one in 100 answers", "updates")),
        simulate=placed,
        derivation=(
            "Ask first whom everybody else is waiting for. In turn it is the longest answer of each batch: most of the "
            "time only a few answers are running, and 64 GPUs read the weights for them. Writers that may be ahead "
            "fill the slots with the next answers. The long one then delays no update, it is only learned from later. "
            "One batch ahead is enough to make updates more than two and a half times as fast."
            "\n\n"
            "Memory sets the ends: on 8 GPUs the caches of 512 answers do not fit, and on 24 the states of the "
            "training do not. FSDP alone has the shortest step, but its activations leave room for the states only if "
            "these are cut over all 64 GPUs. In between, 16 writers are slower than their 48 trainers, except where "
            "TP 8 meets a slower road than slices. Every slot is then full from a bound of 2 on, and neither the road "
            "nor the layout of the training changes the time of an update. With 24 or 32 writers the trainer never "
            "waits from a bound of 2 on, and both count. In pairs, 40 trainers are no faster than 32: either way a "
            "replica has four micro-batches, and some of the 40 GPUs' are empty. A bound of 4 gains nothing anywhere. "
            "The slowest part works all the time with a bound of 2 already, so answers can only get older."
            "\n\n"
            "Age has a price, too, and more writers buy it off. On 32 GPUs a copy serves far fewer answers than on "
            "16, its tokens come faster, and a long answer is finished after fewer updates. As to the road: a writer "
            "needs an eighth of the weights. To send it all of them takes eight times as long, and by way of rank 0 "
            "they pass one port twice. With TP 8 and ZeRO-1 the plan takes every slice from the first replica, whose "
            "ports then feed all copies."
        ),
    ),
    Choice(
        id="14-reason-place",
        kind="design",
        title="The same bound, older answers",
        section=SECTION,
        options=(
            "On 16 GPUs a token takes longer, so more updates are made while a long answer is being written.",
            "With 16 writers, more answers are begun before the gate closes, so the pool is further ahead.",
            "The new weights need more time to reach 16 writers than 32, so these begin with older ones.",
            "With 16 writers, a finished answer waits until the longest of its batch is finished, too.",
        ),
        correct=0,
        derivation=(
            "A bound limits what is begun, and how many batches that is does not depend on the writers. What is "
            "begun last before an update may still be learned from at once if it is short. A long answer takes its "
            "tokens times the seconds of a token. On 16 GPUs writing is the slower side: every slot is full, 256 "
            "answers on a copy instead of 51, and it reads five times as many caches for every token. Divide that time "
            "by the seconds of an update: so many versions pass."
        ),
        slips={
            1: "The gate counts answers: at any version, up to three batches beyond those learned from may be begun.",
            2: "Either way each GPU gets one slice, through its own port, in the same time.",
            3: "Nothing waits for its batch here: the trainer takes the first 512 answers that are finished.",
        },
    ),
)
