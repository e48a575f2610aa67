"""Section 15.6: the design ``cap-design``."""

from __future__ import annotations

from statistics import mean

from autograder.bank.ch15.inputs import GPUS, MTBF, NETWORK, PEAK, TOKENS, matrix_parameters
from autograder.bank.ch15.shared import laid_out
from autograder.items import Axis, Design, Knob, Simulated, lazily
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import GB, day, hour, million, minute

checkpoints = lazily("solutions.ch15.checkpointing")
facts = lazily("solutions.ch15.llama_405b")
pipeline = lazily("solutions.ch07.pipeline")
plan = lazily("solutions.ch15.run_plan")

TP, PP, CHUNKS = 8, 16, 8
SEQUENCES, LENGTH = 2048, 8192
RECOMPUTE = ("none", "cheap", "full")

#: Work of a step, in units of the step without recomputation; the second is assumed, the third is 4 passes for 3.
WORK = (1.0, 1.02, 4 / 3)

MEMORY, DEADLINE = 80 * GB, 300
STALL, RESTART, PRICE = 60.0, 300.0, 2.0


def efficiency() -> float:
    """The share of the peak outside the bubble, from the two published speeds with sequences of 8,192 tokens."""
    rows = facts.STAGES[:2]
    return mean(row.flops_per_gpu / PEAK * (1 + pipeline.bubble_overhead(PP, row.batch_per_dp, CHUNKS)) for row in rows)


def overhead(count: int) -> float:
    """Idle over useful time of the pipeline with ``count`` micro-batches.

    With fewer of them than stages, a rank has to wait in every chunk until the first micro-batch has passed all stages.
    """
    if count >= PP:
        found: float = pipeline.bubble_overhead(PP, count, CHUNKS)
        return found
    return (CHUNKS * (PP - count) + count - 1) / (CHUNKS * count)


def step_seconds(gpus: int, recompute: int) -> float:
    """One step: computing, the bubble, and what of the data-parallel traffic outlasts a micro-batch."""
    dp = gpus // (TP * PP)
    count = SEQUENCES // dp
    useful = 6 * matrix_parameters() * SEQUENCES * LENGTH / (gpus * PEAK * efficiency()) * WORK[recompute]
    sent = plan.traffic_per_gpu(LLAMA3_405B, laid_out(TP, 1, PP, dp, count, LENGTH, CHUNKS))["dp"] / NETWORK
    return useful * (1 + overhead(count)) + max(0.0, sent - useful / count)


def fullest(gpus: int, recompute: int) -> float:
    """Bytes on a GPU of the fullest stage."""
    dp = gpus // (TP * PP)
    partition = plan.partition_layers(LLAMA3_405B.layers, PP, 1, 1)
    how = RECOMPUTE[recompute]
    rows = plan.memory_per_stage(LLAMA3_405B, partition, TP, 1, dp, SEQUENCES // dp, LENGTH, recompute=how)
    return max(row["total"] for row in rows)


def whole_plan(gpus: int, recompute: int, minutes: int) -> Simulated:
    """Days and dollars of the run, checkpoints and failures included."""
    waste = checkpoints.checkpoint_waste(minutes * minute, STALL, MTBF * GPUS / gpus, RESTART)
    memory, step = fullest(gpus, recompute), step_seconds(gpus, recompute)
    days = TOKENS / (SEQUENCES * LENGTH) * step / (1 - waste) / day
    dollars = gpus * days * day / hour * PRICE / million
    told = (
        f"A step takes {step:.2f} s, the fullest GPU holds {memory / GB:.1f} GB, and {waste:.1%} of the time is lost "
        f"to checkpoints and failures. The run ends after {days:.0f} days and costs {dollars:.1f} million dollars."
    )
    broken = ""
    if memory > MEMORY:
        broken = f"But a GPU has only {MEMORY / GB:.0f} GB."
    elif days > DEADLINE:
        broken = f"But the model has to be ready after {DEADLINE} days."
    return Simulated(told, (days, dollars), broken)


QUESTIONS = (
    Design(
        id="cap-design",
        title="Plan the whole run",
        section="15.6",
        knobs=(
            Knob("gpus", "H100 GPUs (`gpus`)", (2048, 4096, 8192, 16_384, 32_768)),
            Knob("recompute", "activations computed again: 0 none, 1 the cheap ones, 2 all (`recompute`)", (0, 1, 2)),
            Knob("minutes", "minutes of work between two saves (`minutes`)", (5, 10, 20, 40, 80)),
        ),
        axes=(Axis("the run ends after", "days"), Axis("rent at 2 dollars per GPU-hour", "million $")),
        simulate=whole_plan,
        derivation=(
            "With more GPUs the run ends sooner but costs more: each replica gets fewer micro-batches, so the bubble "
            "grows, and failures come more often. 2,048 miss the deadline. 4,096, 8,192 and 16,384 are all "
            "defensible; it depends on what a day is worth. 32,768 are not. They leave a replica only 8 micro-batches "
            "for 16 stages. Then chunks help little: a rank is through with all 8 before the first has passed the "
            "other stages and comes back for the next chunk, so it waits in every chunk. The GPUs idle for more than "
            "half of the time, and the run ends no sooner. For each size the rest is settled. Save about every "
            "$\\sqrt{2CM}$, which shrinks with the root of the number of GPUs. Up to 16,384 GPUs, keeping everything "
            "does not fit, and computing the cheap activations again is enough. (Memory is that of plain 1F1B, as in "
            "section 15.4. Chunks would add to it, but the cheap activations would still be enough.)"
        ),
    ),
)
