"""Chapter 8: what a serving step costs, and what load means. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B
from rankzero.facts.units import format_time
from solutions.ch08.serving import critical_batch_size, pass_time, replicas_needed

from ..correction import Correction, Worked, worked
from .deployments import Deployment

_POPE = "Pope et al. (2022), arXiv:2211.05102"
_ROOFLINE = "Williams, Waterman and Patterson (2009), doi:10.1145/1498765.1498785"
_SCALING = "Austin et al. (2025), How To Scale Your Model, part 7, https://jax-ml.github.io/scaling-book/inference/"
_LITTLE = "Little (1961), doi:10.1287/opre.9.3.383"

_SMALL = Deployment(LLAMA3_8B, H100_SXM)
_MODEL = (_SMALL.model.parameters, _SMALL.weight_bytes)
_MACHINE = (_SMALL.peak, _SMALL.bandwidth)


def _pass(tokens: int, contexts: list[int]) -> Worked:
    return worked(pass_time, tokens, contexts, *_MODEL, _SMALL.kv_bytes_per_token, *_MACHINE)


def _decode(contexts: list[int]) -> Worked:
    return _pass(len(contexts), contexts)


_SHORT, _LONG = _pass(16, [0]), _pass(2048, [0])
_RIDGE = worked(critical_batch_size, *_MODEL, *_MACHINE)
_ONE, _MANY = _decode([2048]), _decode([2048] * 128)
_LIGHT, _HEAVY = _decode([16] * 64), _decode([4096] * 64)
_HALF, _FULL = _decode([2048] * 512), _decode([2048] * 1024)

#: Requests per second, time to first token, inter-token latency (seconds), output tokens, slots of a replica.
_FLEET = (500, 0.01417, 0.0209, 50, 64)
_REPLICAS = worked(replicas_needed, *_FLEET)
_IN_FLIGHT = _FLEET[0] * (_FLEET[1] + (_FLEET[3] - 1) * _FLEET[2])

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "8.3",
        "Prefill is bound by compute only from some hundreds of tokens on",
        "Prefill is compute-bound and decode is memory-bound.",
        "Both read all weights once; what differs is the number of tokens that share the reading. On an "
        f"{H100_SXM.name} in bf16 the two limits meet at about {_RIDGE.value:.0f} tokens: a prompt of 16 takes "
        f"{format_time(_SHORT.value)} with {LLAMA3_8B.name}, the time to read the weights, and one of 2,048 "
        f"{format_time(_LONG.value)}.",
        (_RIDGE, _SHORT, _LONG),
        _ROOFLINE,
    ),
    Correction(
        "8.4",
        "A larger batch is cheap as long as reading the weights decides",
        "Decode is bound by memory, so the batch has no effect on the time of a step.",
        "The weights are read once for all sequences, but each sequence has keys and values of its own. With "
        f"{LLAMA3_8B.name} on an {H100_SXM.name} a step takes {format_time(_ONE.value)} for 1 sequence of 2,048 tokens "
        f"and {format_time(_MANY.value)} for 128: {_MANY.value / _ONE.value:.1f} times as long, for 128 times as many "
        "tokens.",
        (_ONE, _MANY),
        _POPE,
    ),
    Correction(
        "8.4",
        "The matrices become compute-bound at one batch, whatever the context",
        "Decoding with long contexts is bound by memory at every batch.",
        "The caches are read by attention's own kernels, and that time is added to that of the matrices. The matrices "
        f"multiply longer than their weights are read from {_RIDGE.value:.0f} sequences on, with any context. If "
        f"the caches fitted, a step of {LLAMA3_8B.name} on an {H100_SXM.name} would grow, from 512 to 1,024 sequences "
        f"of 2,048 tokens, from {format_time(_HALF.value)} to {format_time(_FULL.value)}: matrices and caches both "
        "take twice as long.",
        (_RIDGE, _HALF, _FULL),
        _SCALING,
    ),
    Correction(
        "8.5",
        "Occupied slots are not a busy GPU",
        "With continuous batching all slots are occupied, so the GPU is fully utilized.",
        "Occupancy counts sequences and says nothing about FLOP/s or bytes/s. 64 sequences of 16 tokens and 64 of "
        f"4,096 fill the slots alike, but their steps take {format_time(_LIGHT.value)} and "
        f"{format_time(_HEAVY.value)}; in neither are the multiplying units the limit.",
        (_LIGHT, _HEAVY),
        _ROOFLINE,
    ),
    Correction(
        "8.7",
        "Little's law counts requests, not GPUs",
        "The GPUs that a service needs are its request rate times the latency of a request.",
        f"That product is the number of requests in flight, {_IN_FLIGHT:.0f} for {_FLEET[0]} a second. A replica runs "
        f"many at once: with {_FLEET[4]} slots each, {_REPLICAS.value} replicas hold them. And the latency must be "
        "that of a full batch, which is longer than that of a single request.",
        (_REPLICAS,),
        _LITTLE,
    ),
)
