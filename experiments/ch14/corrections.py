"""Chapter 14: what an RLHF iteration computes, moves and waits for. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB
from solutions.ch02.alpha_beta import message_time
from solutions.ch14.rlhf_profile import (
    Iteration,
    asynchronous_time,
    flops_per_response_token,
    phase_seconds,
    synchronous_time,
)
from solutions.ch14.rlhf_schedule import simulate_async
from solutions.ch14.weight_sync import transition_cost

from ..correction import Correction, worked

_HYBRID = "Sheng et al. (2024), HybridFlow, arXiv:2409.19256"
_AREAL = "Fu et al. (2025), AReaL, arXiv:2505.24298"

#: 70 billion parameters in bf16.
_WEIGHTS = 140 * GB

_PPO = worked(flops_per_response_token, Iteration(epochs=1))
_GRPO = worked(flops_per_response_token, Iteration(critic=False))
_NESTED = worked(transition_cost, _WEIGHTS, 8, 1, 2, 2, 1, "nested", pick=".received")
_WHOLE = worked(transition_cost, _WEIGHTS, 8, 1, 1, 8, 1, "gather", pick=".received")
_GATHER = worked(message_time, _WHOLE.value, H100_SXM.nvlink.bandwidth)

#: GPUs, GPU-seconds of generation and of training, and the tail.
_EVEN, _TAIL = (100, 6000, 3500, 0), (100, 6000, 3500, 100)
_TIMES = {job: [worked(how, *job) for how in (synchronous_time, asynchronous_time)] for job in (_EVEN, _TAIL)}
_BARRIER = worked(asynchronous_time, *_TAIL, barrier=True)


def decoding(gpus: int) -> float:
    """Seconds in which a 70B model writes 512 answers of 8,192 tokens, eight GPUs to a copy."""
    return phase_seconds(LLAMA3_70B, gpus, Iteration(512, 100, 8192, critic=False))["generate"]


_DECODING = worked(decoding, 256), worked(decoding, 128)


def oldest(durations: Sequence[int], bound: int) -> int:
    """The most versions by which a trained sample is late, on two slots, in batches of two, behind a gate."""
    return max(max(ages) for _, _, ages in simulate_async(durations, 2, 2, 1, 1, 0, bound).steps)


_LATE = worked(oldest, [9] + [1] * 11, 1)


CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "14.14",
        "Count every model's passes over a token",
        "Training costs 6N for each token.",
        "That is one model that learns. In PPO an equal critic learns too, the policy has generated the token, and a "
        f"reference, a reward model and the critic have read it: {_PPO.value:.0f}N for a token of a response, with "
        f"one epoch. GRPO with a rule as judge takes {_GRPO.value:.0f}N.",
        (_PPO, _GRPO),
        f"{_HYBRID}, section 2",
    ),
    Correction(
        "14.4",
        "Changing the layout of weights moves bytes",
        "A hybrid engine switches between training and generation without moving data: the GPUs are the same.",
        "Only between equal layouts. From 8 slices to 2, HybridFlow's nested groups reuse what a GPU already holds, "
        f"and each GPU still receives {_NESTED.value / GB:.1f} GB of a 70B model's {_WEIGHTS / GB:.0f}; gathering all "
        f"of it takes {_GATHER.value:.2f} s over NVLink. The paper reports up to 89 percent less time for the "
        "transition than other engines need, not a transition for free.",
        (_NESTED, _WHOLE, _GATHER),
        f"{_HYBRID}, section 8.4",
    ),
    Correction(
        "14.7",
        "Overlap alone makes nothing faster; what does not scale does",
        "Asynchronous RLHF is 1.5 to 2 times as fast, because generation and training overlap.",
        f"With perfect scaling and no tail an iteration of {_EVEN[0]} GPUs takes {_TIMES[_EVEN][0].value:.1f} s in "
        f"turn and {_TIMES[_EVEN][1].value:.1f} s side by side, for each of two pools has fewer GPUs. If the longest "
        f"response alone takes {_TAIL[3]} s, an iteration takes {_TIMES[_TAIL][0].value:.1f} s in turn, "
        f"{_BARRIER.value:.1f} s if the rollout pool waits for every batch, and {_TIMES[_TAIL][1].value:.1f} s if it "
        f"does not. Decoding reads the weights for every token: half of 256 GPUs write the answers of a 70B model in "
        f"{_DECODING[1].value:.0f} s, all of them in {_DECODING[0].value:.0f} s.",
        (*(call for calls in _TIMES.values() for call in calls), _BARRIER, *_DECODING),
        _AREAL,
    ),
    Correction(
        "14.8",
        "A gate bounds starts, not the age of what arrives",
        "With max_staleness 1 no sample is older than one version.",
        "The gate limits how far production runs ahead when a request starts, but a response takes as long as it "
        f"takes. One response of nine steps among one-step ones arrives {_LATE.value} versions late. Drop late "
        "samples, or correct for them.",
        (_LATE,),
        f"{_AREAL}, section 5.1",
    ),
)
