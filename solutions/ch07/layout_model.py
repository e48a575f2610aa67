"""What the layout advisor chooses from, and what a step takes: the model of its time. Standard library only.

It assumes an ideal machine: stages that are equal except for the head, no stragglers, every message at the full
bandwidth of its group (:mod:`.placed_groups`). The all-gathers that
sequence parallelism adds to the backward pass (6.5) are left out: computation can hide them. The model serves to
compare layouts; most measured steps take longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from rankzero import checks
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import Model

from .placed_groups import bandwidths

#: Chunks of layers on one rank that :func:`candidates` tries.
CHUNKS = (1, 2, 4)
#: The fewest tokens of a sequence that CP may leave on a rank: with fewer, its messages cannot be hidden.
LEAST_TOKENS = 4096

#: TP, CP, PP and DP.
Split = tuple[int, int, int, int]


def candidates(job: Job) -> list[Layout]:
    """Every layout that divides the job evenly.

    TP divides the GPUs of a node and the heads; it divides the key-value heads or is a multiple of them. CP is 1, or
    cuts the sequence into 2 CP equal parts and leaves at least 4,096 tokens on a rank. PP is at most the layers. DP
    takes the remaining GPUs, and the batch is a multiple of DP micro-batches. EP divides the experts and DP. ZeRO-3 is
    tried without a pipeline only. There are 1, 2 or 4 chunks: more than 1 in a pipeline whose micro-batches are a
    multiple of PP, with a layer for each chunk on every rank. Every layout is tried with and without recomputation.
    """
    layouts = []
    for tp, cp, pp, dp in splits(job.gpus):
        if broken_rule((tp, cp, pp, dp), job):
            continue
        microbatches = job.global_batch // (dp * job.micro_batch)
        cuts = [v for v in CHUNKS if v == 1 or _can_interleave(job.model.layers, pp, microbatches, v)]
        for ep in _divisors(math.gcd(job.model.experts, dp)) if job.model.experts else [1]:
            for zero in (1, 2, 3) if pp == 1 else (1, 2):
                layouts += [Layout(tp, cp, pp, dp, ep, zero, v, again) for v in cuts for again in (False, True)]
    return layouts


def splits(gpus: int) -> Iterator[Split]:
    """Every way to write the number of GPUs as a product of TP, CP, PP and DP."""
    for tp in _divisors(gpus):
        for cp in _divisors(gpus // tp):
            for pp in _divisors(gpus // (tp * cp)):
                yield tp, cp, pp, gpus // (tp * cp * pp)


def broken_rule(split: Split, job: Job) -> str:
    """The first rule of :func:`candidates` that a split of the GPUs breaks; empty for one that divides."""
    tp, cp, pp, dp = split
    model = job.model
    rules = {
        "TP leaves the node": job.gpus_per_node % tp,
        "TP does not divide the heads": model.heads % tp or (model.kv_heads % tp and tp % model.kv_heads),
        "CP cuts the sequence too short": cp > 1 and (job.sequence % (2 * cp) or job.sequence // cp < LEAST_TOKENS),
        "more stages than layers": pp > model.layers,
        "the batch does not divide among the replicas": job.global_batch % (dp * job.micro_batch),
    }
    return next((rule for rule, broken in rules.items() if broken), "")


def step_time(layout: Layout, job: Job) -> float:
    """Time of one training step, seconds, in the model of :func:`step_parts`: the sum of its parts.

    Raises:
        ValueError: as for ``layout_memory``.
    """
    return sum(step_parts(layout, job).values())


def step_parts(layout: Layout, job: Job, replicas_inside: bool = False) -> dict[str, float]:
    """The time of one step by what it is spent on, seconds.

    For each micro-batch: ``compute`` of the slowest stage, and the messages of its layers, which nothing hides: ``TP``
    (4 all-reduces of a layer, 6 with recomputation), ``CP`` (keys and values go round a ring 2 times, or 3), ``EP``
    (4 all-to-alls, or 6), ``PP`` (an activation and a gradient for each chunk). ``idle`` is the pipeline's idle time.
    ``DP`` is what gathering weights and scattering gradients takes beyond the compute that hides it. ZeRO-1 does both
    once a step, beside two thirds of a micro-batch's time; ZeRO-2 scatters gradients after every micro-batch, each time
    beside as much. ZeRO-3 gathers weights twice and scatters gradients in every micro-batch, beside all of its time
    (5.6). Each group has the bandwidth that its place on the nodes gives it, by ``bandwidths``; ranks are
    numbered with TP innermost, then CP, EP, PP and DP.

    Args:
        layout: how the job is split.
        job: the model, its batch and its GPUs.
        replicas_inside: number the replicas before the stages of the pipeline.

    Raises:
        ValueError: as for ``layout_memory``.

    Source: for the bytes and the idle time, Narayanan et al. (2021), arXiv:2104.04473 (TP, PP); Liu et al. (2023),
    arXiv:2310.01889 (CP); Lepikhin et al. (2020), arXiv:2006.16668 (EP); Rajbhandari et al. (2020), arXiv:1910.02054
    (DP).
    """
    microbatches = microbatches_of(layout, job)
    model, layers = job.model, stage_size(layout, job.model)
    tokens = job.micro_batch * job.sequence
    ways = layout.tp * layout.cp
    flops = _slowest_stage(layout, job)
    passes = 1.5 if layout.recompute else 1.0  # forward and backward work, relative to that without recomputation
    compute = flops / (ways * job.peak * job.efficiency) * (4 / 3 if layout.recompute else 1.0)
    whole = 2.0 * tokens * model.hidden
    kv = 4.0 * tokens * model.kv_heads * model.head_dim / layout.tp
    rates = bandwidths(layout, job, replicas_inside)
    once = {
        "compute": compute,
        "TP": layers * 4 * passes * 2 * _others(layout.tp) * whole / layout.cp / rates["tp"],
        "CP": layers * 2 * passes * _others(layout.cp) * kv / rates["cp"],
        "EP": layers * 4 * passes * model.top_k * whole / ways * _others(layout.ep) / rates["ep"],
        "PP": 2 * layout.virtual_stages * whole / ways / rates["pp"] if layout.pp > 1 else 0.0,
    }
    unit = sum(once.values())
    parts = {name: microbatches * seconds for name, seconds in once.items()}
    parts["idle"] = unit * (layout.pp - 1) / layout.virtual_stages
    parts["DP"] = _exposed(layout, job.model, microbatches, unit, rates)
    return parts


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def _can_interleave(layers: int, pp: int, microbatches: int, chunks: int) -> bool:
    return pp > 1 and microbatches % pp == 0 and layers // pp >= chunks


def microbatches_of(layout: Layout, job: Job) -> int:
    """Micro-batches of one replica in a step; a ValueError for a layout that does not divide."""
    checks.count(tp=layout.tp, cp=layout.cp, pp=layout.pp, dp=layout.dp)
    checks.count(ep=layout.ep, virtual_stages=layout.virtual_stages)
    checks.one_of((1, 2, 3), zero=layout.zero)
    checks.require(layout.gpus == job.gpus, f"take {job.gpus} GPUs", layout=layout.gpus)
    checks.require(layout.dp % layout.ep == 0, f"divide dp = {layout.dp}", ep=layout.ep)
    at_once = layout.dp * job.micro_batch
    checks.require(job.global_batch % at_once == 0, f"be a multiple of {at_once}", global_batch=job.global_batch)
    return job.global_batch // at_once


def stage_size(layout: Layout, model: Model) -> int:
    return -(-model.layers // layout.pp)


def _expert(model: Model) -> int:
    """Parameters of one expert."""
    return (3 if model.gated else 2) * model.hidden * model.expert_ffn


def _block(model: Model) -> int:
    """Parameters of one layer that every token uses."""
    queries, keys = model.heads * model.head_dim, model.kv_heads * model.head_dim
    attention = 2 * model.hidden * (queries + keys)
    if model.experts:
        forward = model.hidden * model.experts + model.shared_experts * _expert(model)
    else:
        forward = (3 if model.gated else 2) * model.hidden * model.ffn
    return attention + 2 * model.hidden + forward


def parameters_on_gpu(layout: Layout, model: Model) -> tuple[float, float]:
    """Parameters on one GPU: those that all tokens use, and those of experts."""
    matrix = model.vocab * model.hidden
    ends = matrix if layout.pp > 1 else matrix * (1 if model.tied_embeddings else 2) + model.hidden
    layers = stage_size(layout, model)
    shared = (layers * _block(model) + ends) / layout.tp
    return shared, layers * model.experts * _expert(model) / (layout.tp * layout.ep)


def _slowest_stage(layout: Layout, job: Job) -> float:
    """FLOPs of a micro-batch on the stage with the most work, forward and backward, over all ranks of the stage."""
    model, tokens = job.model, job.micro_batch * job.sequence
    attention = 6 * job.sequence * model.heads * model.head_dim
    layer = (6 * (_block(model) + model.top_k * _expert(model)) + attention) * tokens
    head = 6 * model.vocab * model.hidden * tokens
    return max(stage_size(layout, model) * layer, model.layers // layout.pp * layer + head)


def _others(ranks: int) -> float:
    """The share of a tensor that lies on other ranks."""
    return (ranks - 1) / ranks


def _exposed(layout: Layout, model: Model, microbatches: int, unit: float, rates: Mapping[str, float]) -> float:
    """Seconds of data-parallel communication that compute does not hide.

    Whole gradients are reduced once a step, slices of them (ZeRO-2 and 3) after every micro-batch. A scatter takes as
    long as a gather.
    """
    shared, experts = parameters_on_gpu(layout, model)
    ranks = layout.dp * layout.cp
    gather = 2 * (shared * _others(ranks) / rates["dp"] + experts * _others(ranks // layout.ep) / rates["experts"])
    backward = unit * 2 / 3
    if layout.zero < 3:
        sliced = (microbatches - 1) * max(0.0, gather - backward) if layout.zero == 2 else 0.0
        return sliced + max(0.0, 2 * gather - backward)
    return microbatches * max(0.0, 3 * gather - unit)
