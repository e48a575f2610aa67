"""Rules of thumb, each beside the course's own function: where the rule is good, and where it is not.

A rule is one line of arithmetic. It is tried twice: on a case within its range, where it agrees with the function to
within a factor of :data:`GOOD`, and on one outside, where it is off by more than :data:`BAD`. A test holds both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankzero.facts.hardware import H100_SXM, IB_NDR, NVLINK4
from rankzero.facts.models import GPT3_175B, LLAMA2_7B, LLAMA3_8B, LLAMA3_70B, Model
from rankzero.facts.units import GB, MB, billion, format_bytes, format_time, hour, minute, us
from solutions.ch01.scale import training_flops_per_token
from solutions.ch03.collective_cost import ring_all_reduce_time
from solutions.ch05.zero import state_bytes, zero_traffic
from solutions.ch06.activation_memory import activation_bytes
from solutions.ch06.activations import tensor_parallel_traffic
from solutions.ch07.pipeline import bubble_fraction
from solutions.ch08.serving import critical_batch_size, pass_time, prefill_time
from solutions.ch09.kv_cache import kv_bytes_per_token, paged_waste
from solutions.ch11.speculative import expected_tokens
from solutions.ch13.rlhf_memory import rlhf_bytes
from solutions.ch14.weight_sync import chain_broadcast_time
from solutions.ch15.checkpointing import optimal_checkpoint_interval

#: How far a rule may be off within its range, as a factor, and by how much it is at least off outside.
GOOD, BAD = 1.25, 1.5


@dataclass(frozen=True)
class Case:
    """One use of a rule.

    Attributes:
        said: the case in words.
        rule: what the rule says.
        course: what the course's function says.
    """

    said: str
    rule: float
    course: float

    @property
    def off(self) -> float:
        """The factor between the two, at least 1."""
        return max(self.rule / self.course, self.course / self.rule)


@dataclass(frozen=True)
class Rule:
    """A rule of thumb.

    Attributes:
        topic: what it is about, in a word or two.
        section: where the course derives what stands behind it.
        text: the rule.
        unit: of its result: ``"s"``, ``"B"``, ``"FLOP"``, ``"%"`` (the values are shares) or a word.
        holds: what it takes for granted.
        within: a case in which it holds.
        beyond: a case in which it does not.
    """

    topic: str
    section: str
    text: str
    unit: str
    holds: str
    within: Callable[[], Case]
    beyond: Callable[[], Case]

    def shown(self, value: float) -> str:
        """A value as it is printed."""
        if self.unit == "s":
            return format_time(float(f"{value:.2g}"))
        if self.unit == "B":
            return format_bytes(float(f"{value:.2g}"))
        if self.unit == "%":
            return f"{float(f'{100 * value:.2g}'):g} %"
        if self.unit == "FLOP":
            return f"{float(f'{value / 1e9:.2g}'):g} GFLOP"
        return f"{float(f'{value:.2g}'):,.4g} {self.unit}"


def _matrices(model: Model) -> float:
    """Parameters that each token is multiplied with: all but the look-up of the embedding."""
    return model.parameters - model.vocab * model.hidden


def _work(context: int) -> Case:
    model = LLAMA3_8B
    exact = training_flops_per_token(_matrices(model), model.layers, model.hidden, context)
    return Case(f"8B, {context:,} tokens", 6 * model.parameters, exact)


def _states(said: str, moment: str = "fp32", master: bool = True) -> Case:
    return Case(f"70B, {said}", 16 * 70 * billion, sum(state_bytes(moment=moment, master=master)) * 70 * billion)


def _activations(recompute: str, said: str) -> Case:
    model, sequence = GPT3_175B, 2048
    exact = activation_bytes(model, sequence, recompute=recompute)
    return Case(f"GPT-3, {said}", 34 * sequence * model.hidden, exact)


def _ring(size: float, ranks: int, said: str) -> Case:
    return Case(
        f"{said}, {ranks:,} ranks",
        2 * size / IB_NDR.bandwidth,
        ring_all_reduce_time(size, ranks, IB_NDR.bandwidth, 5 * us),
    )


def _zero(micro_steps: int) -> Case:
    one, other = (zero_traffic(7 * billion, stage, 64, micro_steps=micro_steps) for stage in (3, 0))
    return Case(f"{micro_steps} micro-step{'s' if micro_steps > 1 else ''}", 1.5, one / other)


def _tensor(bandwidth: float, said: str) -> Case:
    model, ranks, sequence = LLAMA3_70B, 8, 4096
    sent = tensor_parallel_traffic(sequence, 1, model.hidden, ranks)
    work = 6 * 12 * model.hidden**2 * sequence / (ranks * H100_SXM.peak_bf16 / 2)
    return Case(said, 0.2, sent / bandwidth / work)


def _bubble(stages: int, microbatches: int) -> Case:
    return Case(f"{stages} stages, {microbatches} micro-batches", 0.2, bubble_fraction(stages, microbatches))


def _decode(users: int) -> Case:
    model, gpu = LLAMA3_8B, H100_SXM
    kv = kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim)
    weights = 2 * model.parameters
    exact = pass_time(users, [2048] * users, model.parameters, weights, kv, gpu.peak_bf16, gpu.memory_bandwidth)
    return Case(f"8B, H100, {users} × 2,048 tokens", weights / gpu.memory_bandwidth, exact)


def _ridge(weight_bytes: float, said: str) -> Case:
    number = LLAMA3_8B.parameters
    exact = critical_batch_size(number, weight_bytes * number, H100_SXM.peak_bf16, H100_SXM.memory_bandwidth)
    return Case(said, 300, exact)


def _prefill(tokens: int) -> Case:
    model, gpu = LLAMA3_8B, H100_SXM
    rule = 2 * model.parameters * tokens / gpu.peak_bf16
    exact = prefill_time(
        model.parameters, 2 * model.parameters, tokens, gpu.peak_bf16, gpu.memory_bandwidth, model.layers, model.hidden
    )
    return Case(f"8B, H100, {tokens:,} tokens", rule, exact)


def _cache(model: Model) -> Case:
    exact = kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim)
    return Case(model.name, 4 * model.layers * model.hidden, exact)


def _waste(lengths: range, said: str) -> Case:
    return Case(said, 8, paged_waste(lengths, 16)[0] / len(lengths))


def _drafts(length: int) -> Case:
    return Case(f"4 of 5 accepted, {length} drafts", 1 / (1 - 0.8), expected_tokens(0.8, length))


def _alignment(algorithm: str, said: str) -> Case:
    return Case(said, 36 * 7 * billion, rlhf_bytes(algorithm, 7 * billion)["total"])


def _copies(chunks: int) -> Case:
    size, port = 140 * GB, IB_NDR.bandwidth
    exact = chain_broadcast_time(size, 8, port, 5 * us, chunks)
    return Case(f"140 GB, 8 receivers, {chunks} chunk{'s' if chunks > 1 else ''}", size / port, exact)


def _interval(stall: float, between: float, said: str) -> Case:
    exact = optimal_checkpoint_interval(stall, between, "exact")
    return Case(said, (2 * stall * between) ** 0.5 / minute, exact / minute)


RULES = (
    Rule(
        *("training work", "1.14", "6 FLOP for each parameter and token", "FLOP", "sequences short against 6 widths"),
        *(lambda: _work(2048), lambda: _work(131_072)),
    ),
    Rule(
        *("model states", "5.5", "16 bytes for each parameter", "B", "bf16, Adam and a master copy in fp32"),
        *(lambda: _states("the usual recipe"), lambda: _states("all in bf16", moment="bf16", master=False)),
    ),
    Rule(
        *(
            "activations",
            "6.18",
            "34 bytes for each token and unit of width, a layer",
            "B",
            "bf16, a layer like GPT-3's, no attention matrix kept",
        ),
        *(
            lambda: _activations("selective", "flash attention"),
            lambda: _activations("none", "its attention matrix kept"),
        ),
    ),
    Rule(
        *("all-reduce", "3.8", "twice the bytes over the bandwidth", "s", "large tensors, 8 ranks or more"),
        *(lambda: _ring(14 * GB, 8, "14 GB"), lambda: _ring(1 * MB, 1024, "1 MB")),
    ),
    Rule(
        *("ZeRO-3", "5.6", "sends half as much again as DDP", "times", "one micro-step in each step"),
        *(lambda: _zero(1), lambda: _zero(8)),
    ),
    Rule(
        *(
            "tensor parallelism",
            "6.6",
            "8 ways lengthens a layer by a fifth",
            "%",
            "width 8,192 on NVLink, half of the peak",
        ),
        *(lambda: _tensor(NVLINK4.bandwidth, "NVLink 4"), lambda: _tensor(IB_NDR.bandwidth, "one NDR port each")),
    ),
    Rule(
        *(
            "pipelines",
            "7.3",
            "4 micro-batches a stage: idle for a fifth",
            "%",
            "8 equal stages or more, no interleaving",
        ),
        *(lambda: _bubble(8, 32), lambda: _bubble(8, 8)),
    ),
    Rule(
        *(
            "decoding",
            "8.3",
            "bytes of the weights over memory bandwidth",
            "s",
            "few users, short contexts",
        ),
        *(lambda: _decode(1), lambda: _decode(256)),
    ),
    Rule(
        *(
            "free tokens",
            "8.13",
            "a pass of 300 takes as long as one of 1",
            "tokens",
            "an H100, weights and products in bf16",
        ),
        *(lambda: _ridge(2, "weights in bf16"), lambda: _ridge(1, "weights in fp8")),
    ),
    Rule(
        *(
            "prefill",
            "8.13",
            "2 FLOP × parameters × tokens over the peak",
            "s",
            "prompts of 300 to 10,000 tokens",
        ),
        *(lambda: _prefill(4096), lambda: _prefill(131_072)),
    ),
    Rule(
        *(
            "KV cache",
            "9.3",
            "4 bytes × layers × width for each token",
            "B",
            "bf16, a key-value head for each query head",
        ),
        *(lambda: _cache(LLAMA2_7B), lambda: _cache(LLAMA3_70B)),
    ),
    Rule(
        *("paging", "9.15", "each request wastes half a block", "tokens", "lengths far above a block of 16"),
        *(lambda: _waste(range(500, 1500), "500 to 1,500 tokens"), lambda: _waste(range(1, 5), "1 to 4 tokens")),
    ),
    Rule(
        *(
            "speculation",
            "11.5",
            "a pass writes 1/(1−acceptance) tokens",
            "tokens",
            "many drafts, all checked at once",
        ),
        *(lambda: _drafts(8), lambda: _drafts(2)),
    ),
    Rule(
        *("RLHF", "13.21", "36 bytes for each parameter of the policy", "B", "PPO, four models of one size"),
        *(lambda: _alignment("ppo", "PPO, 7B"), lambda: _alignment("grpo", "GRPO with a rule, 7B")),
    ),
    Rule(
        *("new weights", "14.18", "reach all receivers in the time of one copy", "s", "a chain, in many chunks"),
        *(lambda: _copies(64), lambda: _copies(1)),
    ),
    Rule(
        *(
            "checkpoints",
            "15.6",
            "every √(2 · stall · time between failures)",
            "min",
            "a stall short against that time",
        ),
        *(
            lambda: _interval(minute, 3 * hour, "1 min, 3 h"),
            lambda: _interval(30 * minute, hour / 2, "30 min, 30 min"),
        ),
    ),
)
