"""Calculators that take any numbers: each a pure function of base units that returns the rows of a table.

Standard library only: the page of calculators runs them in the browser. They call the functions of the chapters.
"""

from __future__ import annotations

import math

from rankzero import checks
from rankzero.facts.hardware import A100_SXM, B200_SXM, H100_SXM, H200_SXM
from rankzero.facts.layouts import Job
from rankzero.facts.shapes import shaped
from rankzero.facts.units import day, format_bytes, format_time, hour
from solutions.ch01.scale import compute_optimal, minimum_ranks, training_time
from solutions.ch04.all_reduce_algorithms import all_reduce_time, crossover_bytes
from solutions.ch04.bandwidth import bus_bandwidth
from solutions.ch05.zero import zero_memory, zero_traffic
from solutions.ch06.layer_memory import stored_by_layer
from solutions.ch07.experts import moe_parameters
from solutions.ch07.pipeline import bubble_fraction, bubble_overhead
from solutions.ch08.serving import replicas_needed
from solutions.ch09.kv_cache import kv_bytes_per_token, kv_capacity_tokens, max_concurrent_requests
from solutions.ch11.speculative import expected_tokens, optimal_draft_length, speculative_speedup
from solutions.ch14.rlhf_schedule import best_placement
from solutions.ch15.checkpointing import checkpoint_waste, checkpoint_write_time, optimal_checkpoint_interval

from .ch07.layout_search import priced
from .ch08.deployments import Deployment
from .ch13.rlhf_budget import budget

#: By the names that people use.
GPUS = {"H100": H100_SXM, "A100": A100_SXM, "H200": H200_SXM, "B200": B200_SXM}
#: Layouts that the advisor lists.
BEST = 5
#: The share of a GPU's memory that weights and caches may fill.
USABLE = 0.9

Table = dict[str, list[list[str]]]


def _rows(*rows: tuple[str, str]) -> Table:
    return {"rows": [list(row) for row in rows]}


def _split(heads: int, tensor_parallel: int) -> None:
    checks.require(heads % tensor_parallel == 0, f"divide the {heads} heads", tensor_parallel=tensor_parallel)


def _count(value: float) -> str:
    """A count as people read it: ``1.2e+24`` and ``70.6 billion``, and small ones with all digits."""
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if size <= value < 1000 * size:
            return f"{value / size:.4g} {name}"
    return f"{value:,.4g}" if value >= 1e15 else f"{value:,.0f}"


def training_run(
    parameters: float, tokens: float, gpus: int, gpu: str, utilization: float, dollars_per_gpu_hour: float
) -> Table:
    """Work, time and price of a training run, at 6 FLOP for each parameter and token."""
    work = 6 * parameters * tokens
    seconds = training_time(work, gpus, GPUS[gpu].peak_bf16, utilization)
    hours = gpus * seconds / hour
    best, best_tokens = compute_optimal(work)
    return _rows(
        ("work", f"{work:.3g} FLOP"),
        ("time", f"{seconds / day:,.3g} days"),
        ("GPU-hours", _count(hours)),
        ("price", f"{_count(hours * dollars_per_gpu_hour)} dollars"),
        ("tokens per parameter", f"{tokens / parameters:,.3g}"),
        ("20 tokens each would be", f"{_count(best)} parameters, {_count(best_tokens)} tokens"),
    )


def model_states(
    parameters: float, ranks: int, gpu_memory: float, weight_bytes: float, gradient_bytes: float, optimizer_bytes: float
) -> Table:
    """States on one rank and bytes that it sends in a step, for each stage of ZeRO."""
    sizes = (weight_bytes, gradient_bytes, optimizer_bytes)
    rows = []
    for stage in range(4):
        held = zero_memory(parameters, stage, ranks, *sizes)
        sent = zero_traffic(parameters, stage, ranks, weight_bytes, gradient_bytes)
        fits = "fits" if held <= gpu_memory else "does not fit"
        rows.append((f"stage {stage}", f"{format_bytes(held)} held, {fits}; {format_bytes(sent)} sent"))
    least = minimum_ranks(parameters, gpu_memory, sum(sizes))
    return _rows(*rows, ("GPUs that hold the states, at the least", f"{least:,}"))


def mixture(hidden: int, expert_width: int, experts: int, visited: int, layers: int, other_parameters: float) -> Table:
    """Parameters of a mixture of gated experts: all, and those that a token uses."""
    total, active = moe_parameters(hidden, expert_width, experts, visited, layers, round(other_parameters))
    return _rows(
        ("all", _count(total)),
        ("active", _count(active)),
        ("share", f"{100 * active / total:.3g} %"),
        ("weights in bf16", format_bytes(2 * total)),
    )


def activations(sequence: int, batch: int, hidden: int, heads: int, layers: int, tensor_parallel: int) -> Table:
    """What autograd keeps of classic layers in bf16, with sequence parallelism, for each way to recompute."""
    _split(heads, tensor_parallel)
    rows = []
    for recompute, said in (
        ("none", "everything kept"),
        ("selective", "no attention matrix"),
        ("full", "inputs alone"),
    ):
        kept = layers * stored_by_layer(
            sequence, batch, hidden, heads, ranks=tensor_parallel, sequence_parallel=True, recompute=recompute
        )
        rows.append((said, f"{format_bytes(kept)}, {format_bytes(kept / layers)} a layer"))
    return _rows(*rows)


def all_reduce(message: float, ranks: int, bandwidth: float, latency: float) -> Table:
    """An all-reduce over equal links by three algorithms."""
    names = {"ring": "ring", "tree": "binomial tree", "double_tree": "two pipelined trees"}
    times = {name: all_reduce_time(name, message, ranks, bandwidth, latency) for name in names}
    busy = bus_bandwidth("all_reduce", message, times["ring"], ranks) if ranks > 1 and message > 0 else 0.0
    return _rows(
        *((said, format_time(times[name])) for name, said in names.items()),
        ("the ring's bus bandwidth", f"{format_bytes(busy)}/s"),
        ("the ring beats two trees above", format_bytes(crossover_bytes(ranks, bandwidth, latency))),
    )


def pipeline(stages: int, microbatches: int, chunks: int) -> Table:
    """The bubble of a pipeline of equal stages."""
    return _rows(
        ("idle, of all time", f"{100 * bubble_fraction(stages, microbatches, chunks):.3g} %"),
        ("idle, over useful time", f"{100 * bubble_overhead(stages, microbatches, chunks):.3g} %"),
        ("micro-batches that stage 0 holds under 1F1B", f"{min(stages, microbatches)}"),
    )


def advisor(
    parameters: float, experts: int, gpus: int, gpu_memory: float, batch: int, sequence: int, network_bandwidth: float
) -> Table:
    """The fastest layouts that fit, of H100s in nodes of eight; with no experts the model is dense."""
    model = shaped(parameters, experts=experts or None)
    job = Job(model, gpus, batch, sequence, gpu_memory=gpu_memory, network_bandwidth=network_bandwidth)
    fitting, others = priced(job)
    shape = f"{model.layers} layers, hidden {model.hidden:,}"
    if not fitting:
        least = min((size for _, size, _ in others), default=0.0)
        told = f"no layout fits; the smallest takes {format_bytes(least)}" if others else "no layout divides this job"
        return _rows(("shape", shape), ("layouts", told))
    rows = [
        (str(layout), f"{format_time(seconds)} a step, {format_bytes(size)}")
        for seconds, size, layout in fitting[:BEST]
    ]
    return _rows(("shape", shape), ("layouts that fit", f"{len(fitting):,} of {len(fitting) + len(others):,}"), *rows)


def serving(
    parameters: float, gpu: str, tensor_parallel: int, slots: int, prompt: int, output: int, requests_per_second: float
) -> Table:
    """Bounds of a pass, and how many GPUs a load takes; without queueing and what GPUs send each other."""
    made = Deployment(shaped(parameters), GPUS[gpu], tensor_parallel)
    first = made.prefill(prompt)
    step = made.decode_step([prompt + output / 2] * slots)
    count = replicas_needed(requests_per_second, first, step, output, slots)
    prefills = math.ceil(requests_per_second * first)  # a prefill takes a replica whole
    why = f", because {requests_per_second:g} prefills a second take so many" if prefills > count else ""
    count = max(count, prefills)
    fitting = made.requests_that_fit(prompt + output, USABLE) if made.room(USABLE) > 0 else 0
    return _rows(
        ("prefill", format_time(first)),
        (f"time between tokens, {slots} requests", format_time(step)),
        ("end to end", format_time(first + (output - 1) * step)),
        ("tokens per second of a replica between prefills", f"{slots / step:,.0f}"),
        ("requests that fit", f"{fitting:,}" if fitting >= slots else f"{fitting:,}: fewer than asked for"),
        ("replicas", f"{count:,}{why}"),
        ("GPUs", f"{count * tensor_parallel:,}"),
    )


def cache(
    layers: int,
    kv_heads: int,
    head_width: int,
    element_bytes: float,
    tensor_parallel: int,
    parameters: float,
    gpu_memory: float,
    context: int,
) -> Table:
    """Keys and values of a token, and the requests that fit beside bf16 weights, with 90 percent of memory usable."""
    token = kv_bytes_per_token(layers, kv_heads, head_width, element_bytes)
    each = kv_bytes_per_token(layers, kv_heads, head_width, element_bytes, tensor_parallel)
    held = tensor_parallel * each  # with more GPUs than heads, heads are copied
    room = kv_capacity_tokens(gpu_memory, tensor_parallel, 2 * parameters, held)
    return _rows(
        ("a token", format_bytes(token, binary=True)),
        ("a token on each GPU", format_bytes(each, binary=True)),
        ("a request, on all GPUs", format_bytes(context * held)),
        ("tokens that fit", f"{room:,}"),
        ("requests that fit, in blocks of 16", f"{max_concurrent_requests(room, context, 16):,}"),
    )


def drafts(acceptance: float, draft_length: int, draft_cost: float, verify_cost: float) -> Table:
    """Speculative decoding; costs are in units of a plain pass of the target."""
    best = optimal_draft_length(acceptance, draft_cost)
    return _rows(
        ("tokens of a round", f"{expected_tokens(acceptance, draft_length):.4g}"),
        ("speed-up", f"{speculative_speedup(acceptance, draft_length, draft_cost, verify_cost):.4g}"),
        ("best length up to 64, if checking costs one pass", f"{best}"),
        ("its speed-up", f"{speculative_speedup(acceptance, best, draft_cost):.4g}"),
    )


def alignment(
    algorithm: str, policy_parameters: float, reward_parameters: float, gpus: int, gpu_memory: float
) -> Table:
    """Model states of an RLHF job, by role, and on each GPU if they are sharded evenly. 0 is a rule as the reward."""
    reward = None if algorithm == "dpo" else reward_parameters
    roles = budget(algorithm, policy_parameters, reward=reward)
    total = sum(parts["total"] for parts in roles.values())
    fits = "fits, before activations and caches" if total / gpus <= gpu_memory else "does not fit"
    return _rows(
        *((role, format_bytes(parts["total"])) for role, parts in roles.items()),
        ("all", format_bytes(total)),
        ("on each GPU", f"{format_bytes(total / gpus)}: {fits}"),
        ("GPUs, at the least", f"{minimum_ranks(total, gpu_memory, 1.0):,}"),
    )


def rl_throughput(
    gpus: int, answers: int, generate_gpu_seconds: float, train_gpu_seconds: float, longest_answer: float
) -> Table:
    """An update by all GPUs in turn, and by the best two pools; the work of a batch scales perfectly."""
    turn = max(generate_gpu_seconds / gpus, longest_answer) + train_gpu_seconds / gpus
    work = (gpus, generate_gpu_seconds, train_gpu_seconds, longest_answer)
    rows = [("all in turn", f"{format_time(turn)}, {answers / turn:,.3g} answers/s")]
    for barrier, said in ((True, "the fastest, with a barrier"), (False, "the fastest, without one")):
        found = best_placement(*work, barrier=barrier)
        if found is not None:
            two = f"{found.rollout_gpus:,} write, {found.train_gpus:,} train"
            place = "all in turn" if found.kind == "colocated" else two
            time = found.iteration_time
            rows.append((said, f"{format_time(time)}, {answers / time:,.3g} answers/s: {place}"))
    return _rows(*rows)


def checkpoints(
    parameters: float,
    bytes_per_parameter: float,
    writers: int,
    writer_bandwidth: float,
    storage_bandwidth: float,
    time_between_failures: float,
    restart: float,
) -> Table:
    """How long a checkpoint takes, how often to write one, and what failures and checkpoints waste."""
    write = checkpoint_write_time(parameters, bytes_per_parameter, writers, writer_bandwidth, storage_bandwidth)
    interval = optimal_checkpoint_interval(write, time_between_failures)
    waste = checkpoint_waste(interval, write, time_between_failures, restart)
    return _rows(
        ("size", format_bytes(parameters * bytes_per_parameter)),
        ("write", format_time(write)),
        ("write one every", f"{interval / 60:,.3g} min of work"),
        ("wasted", f"{100 * waste:.3g} % of the time"),
    )
