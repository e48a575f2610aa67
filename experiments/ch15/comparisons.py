"""The capstone's functions beside what Meta published of Llama 3.1 405B. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import billion, hour, million, minute
from solutions.ch01.scale import training_time
from solutions.ch07.pipeline import bubble_overhead
from solutions.ch15 import llama_405b
from solutions.ch15.checkpointing import checkpoint_waste
from solutions.ch15.flops import training_flops

from ..comparison import Compared, Comparison
from .plan_sheet import Plan

_A, _B, _ = llama_405b.STAGES
_PLAN = Plan()
#: The utilization that the page assumes.
MFU = 0.4
FLOP = training_flops(_PLAN.matrix, [(_PLAN.tokens, _PLAN.sequence)])


def idle(stage: llama_405b.TableRow) -> float:
    """Bubble over useful time, with micro-batches and chunks as assumed."""
    return bubble_overhead(stage.pp, stage.batch_per_dp, llama_405b.ASSUMED_CHUNKS)


def gpu_hours() -> float:
    """Of the whole run, with the stops for saves and failures."""
    mtbf = llama_405b.WINDOW / llama_405b.UNEXPECTED
    stall, restart = llama_405b.ASSUMED["stall"], llama_405b.ASSUMED["restart_time"]
    waste = checkpoint_waste(_PLAN.interval * minute, stall, mtbf, restart)
    return training_time(FLOP, 1, H100_SXM.peak_bf16, MFU) / hour / (1 - waste)


COMPARISONS = (
    Comparison(
        "15.1",
        "Parameters, and FLOP by 6 per token and parameter that multiplies",
        "ch15.flops.training_flops",
        "computed",
        llama_405b.PAPER,
        (
            Compared("parameters", 405.0, LLAMA3_405B.parameters / billion, "billion"),
            Compared("FLOP of the run", llama_405b.BUDGET_FLOP / 1e25, FLOP / 1e25, "1e25"),
        ),
        "The paper rounds; with the embedding, whose look-up multiplies nothing, the product would come nearer.",
        "sizes and budgets",
    ),
    Comparison(
        "15.3",
        "Speed of a GPU on 16,384 over that on 8,192, by the bubble",
        "ch07.pipeline.bubble_overhead",
        "measured",
        f"{llama_405b.PAPER}, table 4",
        (Compared("Llama 3.1 405B", _B.flops_per_gpu / _A.flops_per_gpu, (1 + idle(_A)) / (1 + idle(_B)), "x"),),
        "Both speeds are rounded to tens of TFLOP/s, and micro-batches and chunks are assumed.",
        "what a pipeline loses when each replica gets fewer sequences",
    ),
    Comparison(
        "15.6",
        "GPU-hours of the whole run",
        "ch15.checkpointing.checkpoint_waste",
        "measured",
        llama_405b.CARD,
        (Compared("Llama 3.1 405B", llama_405b.GPU_HOURS / million, gpu_hours() / million, "million h"),),
        "The utilization, the interval of saves and the stalls are assumed; attention is left out.",
        "a budget, once the utilization is known",
    ),
)
