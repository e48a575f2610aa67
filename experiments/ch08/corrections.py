"""Chapter 8: wrong claims about inference servers, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA2_70B, LLAMA3_8B, LLAMA3_70B
from rankzero.facts.units import GB, format_bytes, format_time
from rankzero.sim.batching import Run, continuous, static
from solutions.ch08.serving import replicas_needed, workload
from solutions.ch08.serving_repairs import debug_kv_room, debug_max_tokens

from ..correction import LLM_OPTIMIZATION, MLSYS, SENIOR_ENGINEER, Correction
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
            "8.4",
            "One 70B model on one 80 GB GPU: 41.8 ms per token.",
            f"{format_bytes(_WEIGHTS)} of weights do not fit on {format_bytes(H100_SXM.memory)}. Two GPUs hold them, "
            f"and the floor is {format_time(read / 2)} per token.",
            f"A step reads all weights, which takes {format_time(read)} at the bandwidth of one GPU and half of that "
            "with two.",
            _POPE,
            matters="A service is promised on hardware that cannot load the model.",
        ),
        Correction(
            "8.4",
            "Decode time per token is constant; the batch has no effect.",
            f"A step takes {format_time(one)} with 1 sequence and {format_time(many)} with 256, for {LLAMA3_8B.name} "
            f"at {_CONTEXT:,} tokens on an {H100_SXM.name}.",
            "The weights are read once for all sequences, but each has its own keys and values.",
            _POPE,
            matters="The largest gain in serving, the batch, is left out of the plan.",
            places=(f"{MLSYS}, tutorial/part3-inference/chapter08-server-anatomy/scripts/minimal_inference_server.py",),
        ),
        Correction(
            "8.3",
            "Prefill is compute-bound.",
            f"Only above about {ridge:.0f} prompt tokens in a batch on an {H100_SXM.name} in bf16. A prompt of 16 "
            f"tokens takes {format_time(small.prefill(16))}.",
            "That is the time to read the weights, which even the shortest prompt needs.",
            _ROOFLINE,
            matters="Short prompts are tuned for the wrong limit.",
            places=(
                f"{MLSYS}, src/part3-inference/chapter08.md",
                LLM_OPTIMIZATION,
            ),
        ),
        Correction(
            "8.5",
            "`gen_len` output tokens take `gen_len` decode steps.",
            f"One fewer: an answer of {len(answer)} tokens takes {len(answer) - 1} steps.",
            "The logits of the prompt's last token give the first one.",
            _POPE,
            matters="Every latency that is derived from it is off by one step.",
        ),
    )


def _load() -> tuple[Correction, ...]:
    """Load, and batches."""
    rate, ttft, itl, tokens, slots = _FLEET
    fixed, refilled = _runs()
    return (
        Correction(
            "8.6",
            "The number of GPUs needed is the request rate times the latency of a single request.",
            f"That is the number of requests in flight, {rate * (ttft + (tokens - 1) * itl):.0f} for {rate} requests "
            f"a second. With {slots} slots each, {replicas_needed(*_FLEET)} replicas hold them.",
            "Little's law counts requests; a replica runs many at once, with the latency of a full batch.",
            _LITTLE,
            matters="The service is built for the wrong number of GPUs.",
        ),
        Correction(
            "8.7",
            "Continuous batching does not change a request's latency.",
            f"It does. Mean finish {refilled.mean_finish:.0f} instead of {fixed.mean_finish:.0f} steps, for "
            f"{len(fixed.lengths)} requests on {_SLOTS} slots.",
            "Requests wait less for a slot, and nobody waits for the longest answer of a batch.",
            _ORCA,
            matters="The main benefit for users is denied.",
        ),
        Correction(
            "8.7",
            "Continuous batching has no waste.",
            f"{_percent(refilled.idle_share)} of the slot-steps are idle on the same requests, and "
            f"{_percent(fixed.idle_share)} with static batches.",
            "If only occupied slots are counted, waste is zero by definition. At the end of the run slots stay empty.",
            _ORCA,
            matters="The capacity plan has no room for slots that stand empty.",
        ),
        Correction(
            "8.7",
            "Slot occupancy is GPU utilization.",
            "Occupancy counts sequences. It says nothing about FLOP/s or bytes/s.",
            "Full batches of short and of long contexts have the same occupancy, but their steps take "
            f"{format_time(Deployment(LLAMA3_8B, H100_SXM).decode_step([16] * 64))} and "
            f"{format_time(Deployment(LLAMA3_8B, H100_SXM).decode_step([8192] * 64))}.",
            _ROOFLINE,
            matters="A service that reads memory all day looks busy computing.",
            places=(f"{SENIOR_ENGINEER}, lessons/mod-204-model-optimization/lecture-notes/07-continuous-batching.md",),
        ),
    )


def _memory() -> tuple[Correction, ...]:
    """Bytes."""
    big = Deployment(LLAMA3_70B, H100_SXM)
    cache = 32_768 * big.kv_bytes_per_token
    missing = 2 * 70 - H100_SXM.memory / GB
    return (
        Correction(
            "8.4",
            "The KV cache of 32K tokens of a 70B model takes 2 GB.",
            f"It takes {format_bytes(cache)} for {LLAMA3_70B.name} in bf16.",
            f"{big.kv_bytes_per_token:,} bytes per token: keys and values, {LLAMA3_70B.layers} layers, "
            f"{LLAMA3_70B.kv_heads} heads of {LLAMA3_70B.head_dim}. Chapter 9 counts them.",
            _POPE,
            matters="A server accepts more requests than its memory can hold.",
            places=(f"{MLSYS}, src/part3-inference/chapter08.md",),
        ),
        Correction(
            "8.11",
            "The weights take billions of parameters x 2 / 1e9 GB.",
            f"Billions times 2 bytes is already GB: 8 billion leave {debug_kv_room(80, 8):g} of 80 GB, 70 billion "
            f"lack {missing:g}.",
            "Divided by 1e9 once more, every model fits, and the check is useless.",
            "Units",
            matters="The room for the cache is off by many orders of magnitude.",
        ),
        Correction(
            "8.1",
            "Training memory is dominated by gradients.",
            f"With mixed-precision Adam the optimizer's states take {4 + 4 + 4} of {2 + 2 + 4 + 4 + 4} bytes per "
            "parameter, gradients 2.",
            "They are a master copy, a mean and a variance, each in float32. Serving needs none of them.",
            _ZERO,
            matters="Memory is saved where there is little of it.",
            places=(f"{MLSYS}, src/part3-inference/chapter08.md",),
        ),
        Correction(
            "8.11",
            "A 70B model needs tensor parallelism to load.",
            f"Pipeline parallelism works too, or fewer bytes per weight: {LLAMA2_70B.name} takes "
            f"{format_bytes(LLAMA2_70B.parameters)} in 8 bits and {format_bytes(LLAMA2_70B.parameters / 2)} in 4.",
            "The weights must fit in the memory of all GPUs together; how they are cut is another question.",
            _POPE,
            matters="Cheaper ways to serve the model are not considered.",
            places=(f"{MLSYS}, src/part3-inference/chapter08.md",),
        ),
        Correction(
            "8.2",
            "`hash()` gives a consistent token id.",
            "It gives a different one in every process.",
            "Python salts the hashes of strings. A table, or a digest such as SHA-256, is the same everywhere.",
            _PYTHON,
            matters="Prompts are encoded differently after each restart, and caches never match.",
            places=(f"{MLSYS}, tutorial/part3-inference/chapter08-server-anatomy/scripts/minimal_inference_server.py",),
        ),
    )


CORRECTIONS: tuple[Correction, ...] = (*_steps(), *_load(), *_memory())
