"""Chapter 8: claims about inference servers that are often printed wrong. Standard library only."""

from __future__ import annotations

from rankzero.hardware import H100_SXM
from rankzero.models import LLAMA2_70B, LLAMA3_8B, LLAMA3_70B
from rankzero.sim.batching import Run, continuous, static
from rankzero.units import GB, format_bytes, format_time
from solutions.ch08.serving import replicas_needed, workload
from solutions.ch08.serving_repairs import debug_kv_room, debug_max_tokens

from ..correction import Correction
from .deployments import Deployment

_POPE = "Pope et al. (2022), arXiv:2211.05102"
_ROOFLINE = "Williams, Waterman and Patterson (2009), doi:10.1145/1498765.1498785"
_LITTLE = "Little (1961), doi:10.1287/opre.9.3.383"
_ORCA = "Yu et al. (2022), Orca, OSDI 22"
_ZERO = "Rajbhandari et al. (2020), arXiv:1910.02054, section 3.1"
_PYTHON = "Python documentation, object.__hash__ and PYTHONHASHSEED"

#: Bytes of the weights of Llama 2 70B as they are usually rounded, and the context of the page's examples.
_WEIGHTS, _CONTEXT = 140 * GB, 2048
#: Requests per second, time to first token, inter-token latency (seconds), output tokens, slots of a replica.
_FLEET = (500, 0.01417, 0.0209, 50, 64)
#: Slots of the batches.
_SLOTS = 8


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _runs() -> tuple[Run, Run]:
    lengths = workload()
    return static(lengths, _SLOTS), continuous(lengths, _SLOTS)


def _steps() -> tuple[Correction, ...]:
    """What a step costs."""
    small = Deployment(LLAMA3_8B, H100_SXM)
    one, many = small.decode_step([_CONTEXT]), small.decode_step([_CONTEXT] * 256)
    ridge = small.critical_batch(0)
    read = _WEIGHTS / H100_SXM.memory_bandwidth
    answer = debug_max_tokens(0, range(1, 99), 50, eos=-1)
    return (
        Correction(
            "08",
            "One 70B model on one 80 GB GPU: 41.8 ms per token.",
            f"{format_bytes(_WEIGHTS)} of weights do not fit on {format_bytes(H100_SXM.memory)}. Two GPUs hold them, "
            f"and the floor is {format_time(read / 2)} per token.",
            f"A step reads all weights: {format_time(read)} at the bandwidth of one GPU, half of that with two.",
            _POPE,
        ),
        Correction(
            "08",
            "Decode time per token is constant; the batch has no effect.",
            f"{format_time(one)} with 1 sequence and {format_time(many)} with 256, for {LLAMA3_8B.name} at "
            f"{_CONTEXT:,} tokens on an {H100_SXM.name}.",
            "The weights are read once for all sequences; each brings its own keys and values.",
            _POPE,
        ),
        Correction(
            "08",
            "Prefill is compute-bound.",
            f"Only above about {ridge:.0f} prompt tokens in a batch on an {H100_SXM.name} in bf16. A prompt of 16 "
            f"tokens takes {format_time(small.prefill(16))}.",
            "That is the time to read the weights, which no prompt is too short for.",
            _ROOFLINE,
        ),
        Correction(
            "08",
            "`gen_len` output tokens take `gen_len` decode steps.",
            f"One fewer: an answer of {len(answer)} tokens takes {len(answer) - 1} steps.",
            "The logits of the prompt's last token give the first one.",
            _POPE,
        ),
    )


def _load() -> tuple[Correction, ...]:
    """Load, and batches."""
    rate, ttft, itl, tokens, slots = _FLEET
    fixed, refilled = _runs()
    return (
        Correction(
            "08",
            "The GPUs that are needed are request rate times single-request latency.",
            f"That is the number in flight, {rate * (ttft + (tokens - 1) * itl):.0f} for {rate} requests a second. "
            f"With {slots} slots each, {replicas_needed(*_FLEET)} replicas hold them.",
            "Little's law counts requests; a replica runs many at once, with the latency of a full batch.",
            _LITTLE,
        ),
        Correction(
            "08",
            "Continuous batching does not change a request's latency.",
            f"Mean finish {refilled.mean_finish:.0f} instead of {fixed.mean_finish:.0f} steps, for "
            f"{len(fixed.lengths)} requests on {_SLOTS} slots.",
            "Requests wait less for a slot, and nobody waits for the longest answer of a batch.",
            _ORCA,
        ),
        Correction(
            "08",
            "Continuous batching has no waste.",
            f"{_percent(refilled.idle_share)} of the slot-steps are idle on the same requests, and "
            f"{_percent(fixed.idle_share)} with static batches.",
            "Counted over occupied slots only, waste is zero by definition. At the end slots run empty.",
            _ORCA,
        ),
        Correction(
            "08",
            "Slot occupancy is GPU utilization.",
            "Occupancy counts sequences. It says nothing about FLOP/s or bytes/s.",
            "A full batch of short contexts and one of long contexts have the same occupancy, and steps of "
            f"{format_time(Deployment(LLAMA3_8B, H100_SXM).decode_step([16] * 64))} and "
            f"{format_time(Deployment(LLAMA3_8B, H100_SXM).decode_step([8192] * 64))}.",
            _ROOFLINE,
        ),
    )


def _memory() -> tuple[Correction, ...]:
    """Bytes."""
    big = Deployment(LLAMA3_70B, H100_SXM)
    cache = 32_768 * big.kv_bytes_per_token
    missing = 2 * 70 - H100_SXM.memory / GB
    return (
        Correction(
            "08",
            "The KV cache of 32K tokens of a 70B model takes 2 GB.",
            f"{format_bytes(cache)} for {LLAMA3_70B.name} in bf16.",
            f"{big.kv_bytes_per_token:,} bytes per token: keys and values, {LLAMA3_70B.layers} layers, "
            f"{LLAMA3_70B.kv_heads} heads of {LLAMA3_70B.head_dim}. Chapter 9 counts them.",
            _POPE,
        ),
        Correction(
            "08",
            "Memory of weights in GB = billions of parameters x 2 / 1e9.",
            f"Billions times 2 bytes are GB already: 8 billion leave {debug_kv_room(80, 8):g} of 80 GB, 70 billion "
            f"lack {missing:g}.",
            "Divided by 1e9 once more, every model fits, and the check is lost.",
            "Units",
        ),
        Correction(
            "08",
            "Training memory is dominated by gradients.",
            f"With Adam in mixed precision the optimizer's states are {4 + 4 + 4} of {2 + 2 + 4 + 4 + 4} bytes of each "
            "parameter, gradients 2.",
            "A master copy, a mean and a variance, in float32 each. Serving has none of them.",
            _ZERO,
        ),
        Correction(
            "08",
            "A 70B model needs tensor parallelism to load.",
            f"Or pipeline parallelism, or fewer bytes per weight: {LLAMA2_70B.name} takes "
            f"{format_bytes(LLAMA2_70B.parameters)} in 8 bits and {format_bytes(LLAMA2_70B.parameters / 2)} in 4.",
            "The weights must fit in the memory of all GPUs together; how they are cut is another question.",
            _POPE,
        ),
        Correction(
            "08",
            "`hash()` gives a consistent token id.",
            "It gives another one in every process.",
            "Python salts the hashes of strings. A table, or a digest such as SHA-256, is the same everywhere.",
            _PYTHON,
        ),
    )


CORRECTIONS: tuple[Correction, ...] = (*_steps(), *_load(), *_memory())
