"""What vLLM, SGLang and TensorRT-LLM do by default, as their sources said on a day. Standard library only.

Defaults change with releases. Pages that state one take it from here, with the version, and :func:`said` puts both into
words.

>>> said("vLLM", "admission")
'vLLM (main, May 2026): all known tokens of a request must fit into the free blocks; blocks are taken chunk by chunk'
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Default:
    """What an engine does unless it is told otherwise.

    Attributes:
        engine: its name.
        topic: what the sentence is about; each engine has at most one sentence for a topic.
        says: the sentence.
        version: release, or commit or state of the main branch, and month.
        source: where it was read.
        values: the numbers in the sentence, by name.
    """

    engine: str
    topic: str
    says: str
    version: str
    source: str
    values: tuple[tuple[str, float], ...] = ()

    def value(self, name: str) -> float:
        """One of its numbers.

        Raises:
            KeyError: there is none of this name.
        """
        return dict(self.values)[name]


#: SGLang reserves a share of the tokens that running requests may still write. It begins at the first number, falls to
#: the first times the second within so many steps of decoding, and rises when a request had to be thrown out.
SGLANG_RATIO = (("first", 0.7), ("least", 0.14), ("steps", 600))

DEFAULTS = (
    Default(
        "vLLM",
        "admission",
        "all known tokens of a request must fit into the free blocks; blocks are taken chunk by chunk",
        "main, May 2026",
        "vllm/config/scheduler.py, scheduler_reserve_full_isl = True; vllm/v1/core/kv_cache_manager.py, "
        "full_sequence_must_fit of allocate_slots; pull request 37307, March 2026",
    ),
    Default(
        "SGLang",
        "admission",
        "the prompt and the longest answer, at most 4,096 tokens of it, must fit beside a share of what running "
        "requests may still write: 0.7 at first, falling to 0.098 in 600 steps, "
        "estimated anew after a request was thrown out",
        "main, 2026",
        "python/sglang/srt/environ.py, SGLANG_INIT_NEW_TOKEN_RATIO and the two lines after it; "
        "new_token_ratio_tracker; managers/schedule_policy.py, PrefillAdder.add_one_req",
        SGLANG_RATIO,
    ),
    Default(
        "TensorRT-LLM",
        "admission",
        "GUARANTEED_NO_EVICT: the prompt and all tokens that it may write must fit, so that nobody is thrown out",
        "1.4.0rc4, 2026",
        "nvidia.github.io/TensorRT-LLM/1.4.0rc4/llm-api/reference/SchedulerConfig.html, capacity_scheduler_policy",
    ),
    Default(
        "vLLM",
        "preemption",
        "the request at the end of the running list loses its blocks and is computed again; V1 does not move blocks to "
        "the host for it",
        "V1, 2026",
        "docs.vllm.ai, Optimization and Tuning, Preemption; V1 guide, GPU <> CPU KV Cache Swapping: deprecated",
    ),
    Default(
        "vLLM",
        "memory",
        "weights, activations, and keys and values share 0.9 of a GPU's memory",
        "0.16, 2026",
        "docs.vllm.ai, v0.16.0, configuration of the cache: gpu_memory_utilization (0.92 in later releases)",
        (("share", 0.9),),
    ),
    Default(
        "vLLM",
        "engine",
        "V1: a pass is a flat row of tokens, and a preempted request is computed again",
        "0.8, March 2025",
        "docs.vllm.ai, v0.8.0, V1 User Guide: enabled by default; GPU <> CPU KV Cache Swapping: deprecated",
    ),
    Default(
        "vLLM",
        "log-probabilities",
        "raw_logprobs: those of the model's own logits, before temperature, top-k and top-p",
        "0.10, 2025",
        "docs.vllm.ai, v0.10.0, engine arguments: logprobs_mode; V1 guide, Semantic Changes to Logprobs",
    ),
    Default(
        "vLLM",
        "prefix hash",
        "the first block's hash holds the request's cache_salt, and every block's the LoRA adapter",
        "document of 2025",
        "docs/design/prefix_caching.md at 01ff8bff, hash components, Cache Isolation for Security",
    ),
    Default(
        "vLLM",
        "budget",
        "2,048 tokens keep the gaps short, above 8,192 serve throughput, for small models on large GPUs",
        "documentation, 2026",
        "docs.vllm.ai, Optimization and Tuning, Performance Tuning with Chunked Prefill",
        (("gaps", 2048), ("throughput", 8192)),
    ),
    Default(
        "vLLM",
        "graphs",
        "FULL_AND_PIECEWISE: a pass in which every request computes one token is one graph; in every other pass the "
        "parts between the attentions are graphs",
        "documentation, 2026",
        "docs.vllm.ai, CUDA Graphs; Optimization and Tuning, Optimization Levels: -O2",
    ),
    Default(
        "vLLM",
        "graph sizes",
        "1, 2, 4, every 8th number of tokens to 256, then every 16th, up to twice the most requests or 512",
        "documentation, 2026",
        "vllm/config/compilation.py, cudagraph_capture_sizes",
        (("most", 512),),
    ),
    Default(
        "vLLM",
        "overlap",
        "the next pass is scheduled while the last one runs, except with some drafts, such as n-gram lookup on the CPU",
        "0.19, 2026",
        "log of 0.19, 'Asynchronous scheduling is enabled.'; vllm/v1/core/sched/async_scheduler.py",
    ),
    Default(
        "SGLang",
        "overlap",
        "the next batch is prepared while the last one runs; its missing tokens lie in a buffer, one entry for each "
        "request",
        "main, 2026",
        "python/sglang/srt/managers/overlap_utils.py, FutureMap",
    ),
)


def default(engine: str, topic: str) -> Default:
    """The entry of an engine on a topic.

    Raises:
        KeyError: there is none.
    """
    for entry in DEFAULTS:
        if (entry.engine, entry.topic) == (engine, topic):
            return entry
    raise KeyError((engine, topic))


def said(engine: str, topic: str) -> str:
    """The entry in words, with its version."""
    entry = default(engine, topic)
    return f"{entry.engine} ({entry.version}): {entry.says}"


def reserved(step: int, most: int) -> float:
    """Tokens that SGLang reserves after ``step`` steps for a running request that may still write ``most``, which is at
    most 4,096."""
    entry = default("SGLang", "admission")
    first, least, steps = (entry.value(name) for name in ("first", "least", "steps"))
    return most * max(first * least, first - step * (first - first * least) / steps)
