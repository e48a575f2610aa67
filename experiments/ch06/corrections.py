"""Chapter 6: limits and prices of tensor parallelism and recomputation. Standard library only."""

from __future__ import annotations

import math

from rankzero.facts.models import GPT3_175B, LLAMA3_70B
from rankzero.facts.units import format_bytes
from solutions.ch06.activations import best_segment, tensor_parallel_traffic
from solutions.ch06.heads import head_partition
from solutions.ch06.layer_memory import stored_by_layer

from ..correction import Correction, worked

_SEQUENCE = "Korthikanti et al. (2022), arXiv:2205.05198"
_GQA = "Ainslie et al. (2023), arXiv:2305.13245"
_CHEN = "Chen et al. (2016), arXiv:1604.06174"

_PARTS = worked(head_partition, LLAMA3_70B.heads, LLAMA3_70B.kv_heads, 16, 0)
_QUERY, _KEY_VALUE, _COPIES = _PARTS.value

_JOB = (4096, 1, LLAMA3_70B.hidden, 8)
_PLAIN = worked(tensor_parallel_traffic, *_JOB)
_SPLIT = worked(tensor_parallel_traffic, *_JOB, sequence_parallel=True)

#: One layer of GPT-3 at one sequence.
_LAYER = (2048, 1, GPT3_175B.hidden, GPT3_175B.heads)
_ALL, _SELECTIVE, _INPUT = (worked(stored_by_layer, *_LAYER, recompute=kept) for kept in ("none", "selective", "full"))
_LAYERS = GPT3_175B.layers
_BEST = worked(best_segment, _LAYERS, _ALL.value, _INPUT.value)


def peak(distance: int) -> float:
    """Bytes at the peak of a step with a checkpoint in every ``distance`` layers."""
    return math.ceil(_LAYERS / distance) * _INPUT.value + distance * _ALL.value


_ROOT = worked(peak, round(math.sqrt(_LAYERS)))


def attention_again(hidden: int, sequence: int) -> float:
    """The share of a step that recomputing the attention core alone adds: 4 s**2 h of 3 (24 s h**2 + 4 s**2 h) FLOP."""
    return sequence / (18 * hidden + 3 * sequence)


_AGAIN = worked(attention_again, GPT3_175B.hidden, 2048)

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "6.4",
        "Key-value heads can be copied, so they do not limit the ranks",
        "A model with 8 key-value heads cannot be split over 16 ranks.",
        f"Each key-value head is held by {_COPIES} ranks then, which sum the gradients of its weights: of Llama 3 70B "
        f"a rank of 16 has {len(_QUERY)} query heads and {len(_KEY_VALUE)} key-value head. The price is memory: "
        "beyond 8 ranks the keys and values of a rank no longer shrink.",
        (_PARTS,),
        _GQA,
    ),
    Correction(
        "6.5",
        "Sequence parallelism adds no traffic, until the backward pass",
        "Sequence parallelism adds no traffic, since an all-reduce is a reduce-scatter and an all-gather.",
        "That is so in the forward pass. If each rank stores only its slice of a layer's inputs, these are gathered "
        f"again in the backward pass: {format_bytes(_SPLIT.value)} for a layer of Llama 3 70B at {_JOB[0]:,} tokens on "
        f"{_JOB[3]} ranks, and {format_bytes(_PLAIN.value)} without it, {_SPLIT.value / _PLAIN.value - 1:.0%} more. It "
        "can be overlapped with the gradient's products, so the time may not show it.",
        (_PLAIN, _SPLIT),
        f"{_SEQUENCE}, section 4.2",
    ),
    Correction(
        "6.8",
        "Recomputation costs what is recomputed",
        "Activation checkpointing makes training a third slower.",
        f"Full recomputation repeats the forward pass, {1 / 3:.0%} of a step without it, and keeps "
        f"{format_bytes(_INPUT.value)} of the {format_bytes(_ALL.value)} that a layer of GPT-3 stores for one "
        f"sequence. Selective recomputation repeats only the attention core, {_AGAIN.value:.1%} (of the forward pass, "
        f"as the paper counts, {3 * _AGAIN.value:.1%}), and keeps {format_bytes(_SELECTIVE.value)}. With a fused "
        "attention kernel, which never stores the scores, even that is part of the kernel.",
        (_ALL, _SELECTIVE, _INPUT, _AGAIN),
        f"{_SEQUENCE}, section 5",
    ),
    Correction(
        "6.19",
        "The square root is for layers as small as their checkpoints",
        "The best distance between checkpoints is the square root of the number of layers.",
        "That comes from a chain in which a layer stores no more than a checkpoint does. A layer of GPT-3 stores "
        f"{_ALL.value / _INPUT.value:.0f} times its input, so the best distance is {_BEST.value[0]} layer: for one "
        f"sequence the peak is {format_bytes(_BEST.value[1])}, and with a checkpoint in every {_ROOT.arguments[0]} of "
        f"its {_LAYERS} layers it is {format_bytes(_ROOT.value)}.",
        (_BEST, _ROOT),
        _CHEN,
    ),
)
