"""The capstone: published numbers of one large run, and the interval between checkpoints. Standard library only."""

from __future__ import annotations

import math

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.scaling_laws import BESIROGLU, FITTED_FLOP, HOFFMANN, LLAMA3_8B
from rankzero.facts.units import day, hour, minute, trillion
from solutions.ch01.scale import training_time
from solutions.ch15.checkpointing import checkpoint_waste, optimal_checkpoint_interval
from solutions.ch15.llama_405b import BUDGET_FLOP, CARD, CAUSES, GPU_HOURS, PAPER, STAGES, TOKENS, UNEXPECTED, WINDOW

from ..ch01.token_budgets import best_split
from ..correction import Correction, typed, worked

_HOFFMANN = "Hoffmann et al. (2022), arXiv:2203.15556; Besiroglu et al. (2024), arXiv:2404.10102"
_DALY = "Young (1974), doi:10.1145/361147.361115; Daly (2006), doi:10.1016/j.future.2004.11.016"


def best_ratio(fit: str, flops: float) -> float:
    """Tokens per parameter at the lowest loss that a published fit predicts for a budget."""
    parameters, tokens = best_split({"Hoffmann": HOFFMANN, "Besiroglu": BESIROGLU}[fit], flops)
    return tokens / parameters


_FIRST, _AGAIN = (worked(best_ratio, fit, 5.76e23) for fit in ("Hoffmann", "Besiroglu"))

_GPUS = STAGES[1].gpus
_PEAK = worked(training_time, 6 * LLAMA3_405B.parameters * TOKENS, _GPUS, H100_SXM.peak_bf16, 1.0)
_DAYS = GPU_HOURS * hour / _GPUS / day

_POWER = worked(pow, BUDGET_FLOP, 0.53)
_LAW = 0.29 * _POWER.value

#: The paper's share of faulty GPUs among all unexpected interruptions, as printed, and its count.
_PRINTED, _FAULTY = 30.1, CAUSES[0].count
_GPU_CAUSES = worked(sum, [cause.count for cause in CAUSES if cause.kind == "GPU"])
_COUNTED = worked(sum, [cause.count for cause in CAUSES])

_RARE, _BEST = (worked(optimal_checkpoint_interval, 30 * minute, hour, method) for method in ("young", "exact"))

#: A job of 512 GPUs: stall, MTBF and restart, seconds.
_STALL, _MTBF, _RESTART = 98.0, 24 * hour, 120.0
_INTERVAL = worked(optimal_checkpoint_interval, _STALL, _MTBF, "young")
_WASTE = worked(checkpoint_waste, _INTERVAL.value, _STALL, _MTBF, _RESTART)

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "15.1",
        "Twenty tokens per parameter is a fit, far from where it is used",
        "Twenty tokens per parameter is a law.",
        f"It was fitted to runs of {typed(FITTED_FLOP[0])} to {typed(FITTED_FLOP[1])} FLOP and leaves out the cost of "
        "serving. At Chinchilla's budget of 5.76e23 FLOP the parametric fit, rounded as in the paper, gives "
        f"{_FIRST.value:.1f}, and points of its figure, fitted again by others, {_AGAIN.value:.1f}. A small model that "
        f"serves many is trained far beyond it: Llama 3 8B saw {LLAMA3_8B.tokens_per_parameter:,.0f} tokens per "
        "parameter.",
        (_FIRST, _AGAIN),
        _HOFFMANN,
    ),
    Correction(
        "15.2",
        "A window of a log is not the length of a run",
        "Llama 3.1 405B was trained in 54 days.",
        f"{WINDOW / day:.0f} days is the window in which the paper counts failures. The model card's GPU-hours make "
        f"{_DAYS:.1f} days of {_GPUS:,} GPUs. At the full peak the FLOP would take {_PEAK.value / day:.1f} days, so "
        f"the run reached {_PEAK.value / day / _DAYS:.1%} of it from end to end; in {WINDOW / day:.0f} days it would "
        f"have been {_PEAK.value / WINDOW:.1%}, more than the paper prints for any of its steps.",
        (_PEAK,),
        f"{CARD}; {PAPER}, section 3.3.4 and table 4",
    ),
    Correction(
        "15.13",
        "A rounded exponent of a large number is another number",
        "The best number of tokens is 0.29 C^0.53, which gives 16.55 trillion.",
        f"The paper prints both, and they disagree: at C = {typed(BUDGET_FLOP)} the formula gives "
        f"{_LAW / trillion:.1f} trillion. An exponent of {math.log(16.55e12 / 0.29) / math.log(BUDGET_FLOP):.4f} "
        f"reproduces the text; rounding it to two digits costs {1 - _LAW / 16.55e12:.0%}, because C is so large.",
        (_POWER,),
        f"{PAPER}, section 3.2.1",
    ),
    Correction(
        "15.19",
        "Recompute the percentages of a table from its counts",
        f"Faulty GPUs caused {_PRINTED} percent of Llama 3's unexpected interruptions, GPUs in all 58.7 percent.",
        f"The table prints the counts, too: {_FAULTY} of {UNEXPECTED} are {_FAULTY / UNEXPECTED:.1%}, and all causes "
        f"in GPUs, {_GPU_CAUSES.value}, are {_GPU_CAUSES.value / UNEXPECTED:.1%}. The second figure of the claim is "
        "the sum of the printed shares, so it inherits the first one's mistake.",
        (_GPU_CAUSES, _COUNTED),
        f"{PAPER}, table 5",
    ),
    Correction(
        "15.6",
        "Young's interval needs checkpoints that are short beside the failures",
        "The best interval between checkpoints is sqrt(2 C M).",
        "It is the first term of an approximation for C far below M. With a checkpoint of 30 min and a failure every "
        f"hour it gives {_RARE.value / minute:.0f} min, the time between failures itself; the exact optimum is "
        f"{_BEST.value / minute:.1f} min.",
        (_RARE, _BEST),
        _DALY,
    ),
    Correction(
        "15.6",
        "At the best interval writing is only half of the loss",
        "Checkpoints at the best interval cost the share of time that it takes to write them.",
        f"As much again is lost to work that is done twice, and restarts come on top. With {_STALL:.0f} s to write, "
        f"{_MTBF / hour:.0f} h between failures and {_RESTART:.0f} s to restart, a checkpoint every "
        f"{_INTERVAL.value:,.0f} s writes for {_STALL / (_INTERVAL.value + _STALL):.1%} of the time, and "
        f"{_WASTE.value:.1%} of the wall-clock is lost in all.",
        (_INTERVAL, _WASTE),
        _DALY,
    ),
)
