"""Chapter 7: two ways to count idle time, two memories, and how to count a mixture. Standard library only."""

from __future__ import annotations

from rankzero.facts.models import MIXTRAL_8X7B
from rankzero.facts.units import billion
from solutions.ch07.experts import moe_parameters
from solutions.ch07.pipeline import (
    bubble_fraction,
    bubble_overhead,
    peak_in_flight,
    pipeline_schedule,
    simulate_schedule,
)

from ..correction import Correction, worked

_NARAYANAN = "Narayanan et al. (2021), arXiv:2104.04473, section 2.2"
_GPIPE = "Huang et al. (2019), arXiv:1811.06965"
_MIXTRAL = "Jiang et al. (2024), arXiv:2401.04088"

#: Ranks, micro-batches, and the times of a forward and a backward that the page's charts use.
_RANKS, _BATCHES, _TIMES = 4, 8, {"F": 1.0, "B": 2.0}


def step_time(name: str) -> float:
    """When the last backward pass ends."""
    ends = simulate_schedule(pipeline_schedule(name, _RANKS, _BATCHES), _TIMES)
    return max(end for _, end in ends.values())


def peaks(name: str, microbatches: int, chunks: int = 1) -> list[int]:
    """How many micro-batches each rank holds at most; with chunks, parts of its layers count one by one."""
    return [peak_in_flight(order) for order in pipeline_schedule(name, _RANKS, microbatches, chunks)]


_FRACTION, _OVERHEAD = (worked(share, _RANKS, _BATCHES) for share in (bubble_fraction, bubble_overhead))
_ENDS = [worked(step_time, name) for name in ("gpipe", "1f1b")]
_HELD = [worked(peaks, name, _BATCHES) for name in ("gpipe", "1f1b")]
_FEW, _MORE = worked(peaks, "1f1b", 12), worked(peaks, "interleaved", 12, 4)
_PLAIN, _CUT = worked(bubble_fraction, 4, 12), worked(bubble_fraction, 4, 12, 4)

_M = MIXTRAL_8X7B
_SHARED = _M.parameters - _M.layers * _M.experts * 3 * _M.hidden * _M.expert_ffn
_COUNTED = worked(moe_parameters, _M.hidden, _M.expert_ffn, _M.experts, _M.top_k, _M.layers, _SHARED)

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "7.3",
        "One idle time has two shares: of the total and of the useful time",
        "The bubble fraction of a pipeline is (p-1)/(m+p-1); or it is (p-1)/m.",
        f"Both are right under their own names. For p = {_RANKS} and m = {_BATCHES} every rank idles for "
        f"(p-1)(tF+tB): {_FRACTION.value:.1%} of the whole step, {_OVERHEAD.value:.1%} of the useful time. Trouble "
        "begins where one formula is set against the other, or where 1 - (p-1)/m is called an efficiency: with m = 2 "
        "that would be negative.",
        (_FRACTION, _OVERHEAD),
        f"{_GPIPE}; {_NARAYANAN}",
    ),
    Correction(
        "7.4",
        "1F1B saves memory and no time",
        "1F1B has less bubble time than GPipe.",
        f"With tF = 1 and tB = 2 the steps of both end at {_ENDS[0].value:g} and {_ENDS[1].value:g}: backward passes "
        f"come earlier, but no more of them fit into the time. What falls is memory: of {_BATCHES} micro-batches the "
        f"stages hold {', '.join(map(str, _HELD[1].value))} in place of {_HELD[0].value[0]}. Memory that is saved may "
        "pay for more micro-batches, and those shrink the bubble fraction.",
        (*_ENDS, *_HELD),
        _NARAYANAN,
    ),
    Correction(
        "7.7",
        "Interleaving is paid with messages and with memory",
        "Interleaving shrinks the bubble fraction and costs nothing but messages.",
        f"With p = 4, m = 12 and v = 4 the idle share falls from {_PLAIN.value:.1%} to {_CUT.value:.1%}. But rank 0 "
        "warms up with more passes before its first backward pass, and holds the activations of "
        f"{_MORE.value[0] / 4:g} whole stages where 1F1B holds {_FEW.value[0]}.",
        (_PLAIN, _CUT, _FEW, _MORE),
        _NARAYANAN,
    ),
    Correction(
        "7.21",
        "Eight experts of 7B are less than 56B",
        "A model called 8x7B has 56 billion parameters.",
        f"Only the feed-forward blocks exist {_M.experts} times; attention, norms and embeddings, "
        f"{_SHARED / billion:.2g} billion, count once. The whole has {_COUNTED.value[0] / billion:.1f} billion "
        f"parameters, which is what memory must hold, and a token uses {_COUNTED.value[1] / billion:.1f} billion, "
        "which is what it computes with.",
        (_COUNTED,),
        _MIXTRAL,
    ),
)
