"""What the layout advisor chooses with, a second time, written plainly on its own: tests hold the course to it."""

from dataclasses import dataclass
from itertools import product
from math import ceil


@dataclass(frozen=True)
class Layout:
    """The sizes of a layout, as in ``rankzero.facts.layouts``."""

    tp: int
    cp: int
    pp: int
    dp: int
    ep: int = 1
    zero: int = 1
    virtual_stages: int = 1
    recompute: bool = False


def candidates(job):
    """Every layout whose sizes divide the job."""
    model, found = job.model, []
    sizes = [d for d in range(1, job.gpus + 1) if job.gpus % d == 0]
    for tp, cp, pp in product([d for d in sizes if d <= job.gpus_per_node], sizes, sizes):
        dp, rest = divmod(job.gpus, tp * cp * pp)
        if rest or pp > model.layers or model.heads % tp or (model.kv_heads % tp and tp % model.kv_heads):
            continue
        if cp > 1 and (job.sequence % (2 * cp) or job.sequence < 4096 * cp):
            continue
        m, rest = divmod(job.global_batch, dp * job.micro_batch)
        if rest:
            continue
        experts = [e for e in sizes if dp % e == 0 and model.experts % e == 0] if model.experts else [1]
        chunks = [v for v in (1, 2, 4) if v == 1 or (pp > 1 and m % pp == 0 and model.layers // pp >= v)]
        for ep, zero, v, again in product(experts, (1, 2, 3), chunks, (False, True)):
            if zero < 3 or pp == 1:
                found.append(Layout(tp, cp, pp, dp, ep, zero, v, again))
    return found


def layout_memory(layout, job):
    """Bytes of states and of activations on the fullest GPU."""
    m, shards = _batches(layout, job), layout.dp * layout.cp
    shared, experts = _weights(layout, job)
    states = 0.0
    for parameters, z in ((shared, shards), (experts, shards // layout.ep)):
        per = [2.0, 2.0, 12.0]
        cut = {1: (2,), 2: (1, 2), 3: (0, 1, 2)}[layout.zero]
        states += parameters * sum(size / z if i in cut else size for i, size in enumerate(per))
    p, v = layout.pp, layout.virtual_stages
    flying = min(m, p if v == 1 else p + (p - 1) / v)
    unit = job.sequence * job.micro_batch * job.model.hidden / (layout.tp * layout.cp)
    layers = ceil(job.model.layers / p)
    return states, unit * (layers * flying * 2 + 34 if layout.recompute else layers * flying * 34)


def step_time(layout, job):
    """Seconds of one step."""
    model, m = job.model, _batches(layout, job)
    t, c, p, e, v = layout.tp, layout.cp, layout.pp, layout.ep, layout.virtual_stages
    tokens, layers = job.micro_batch * job.sequence, ceil(model.layers / p)
    block, expert = _layer(model)
    layer = (6 * (block + model.top_k * expert) + 6 * job.sequence * model.heads * model.head_dim) * tokens
    work = max(layers * layer, model.layers // p * layer + 6 * model.vocab * model.hidden * tokens)
    unit = work / (t * c * job.peak * job.efficiency) * (4 / 3 if layout.recompute else 1)
    n, rounds, activation = (6, 3, 2 * tokens * model.hidden) if layout.recompute else (4, 2, 2 * tokens * model.hidden)

    def seconds(size, reach):
        return size / (job.node_bandwidth if reach <= job.gpus_per_node else job.network_bandwidth)

    unit += seconds(layers * n * 2 * (t - 1) / t * activation / c, t)
    unit += seconds(layers * rounds * (c - 1) / c * 4 * tokens * model.kv_heads * model.head_dim / t, t * c)
    unit += seconds(layers * n * model.top_k * activation / (t * c) * (e - 1) / e, t * c * e)
    unit += seconds(2 * v * activation / (t * c), t * c * e * p) if p > 1 else 0
    shared, experts = _weights(layout, job)
    z = layout.dp * c
    gather = seconds(2 * (shared * (z - 1) / z + experts * (z // e - 1) / (z // e)), job.gpus)
    if layout.zero == 3:
        late = m * max(0.0, 2 * gather - unit) + max(0.0, gather - 2 / 3 * unit)
    else:
        late = max(0.0, 2 * gather - 2 / 3 * unit)
    return unit * (m + (p - 1) / v) + late


def _batches(layout, job):
    """Micro-batches of a replica."""
    if layout.tp * layout.cp * layout.pp * layout.dp != job.gpus or layout.dp % layout.ep:
        raise ValueError("a layout of another job")
    m, rest = divmod(job.global_batch, layout.dp * job.micro_batch)
    if rest:
        raise ValueError("a layout of another job")
    return m


def _layer(model):
    """Parameters of a layer that every token uses, and of one expert."""
    h, matrices = model.hidden, 3 if model.gated else 2
    expert = matrices * h * model.expert_ffn
    heads = (2 * model.heads + 2 * model.kv_heads) * model.head_dim * h
    inner = h * model.experts + model.shared_experts * expert if model.experts else matrices * h * model.ffn
    return heads + 2 * h + inner, expert


def _weights(layout, job):
    """Parameters on a GPU: shared ones, and those of experts."""
    model, layers = job.model, ceil(job.model.layers / layout.pp)
    block, expert = _layer(model)
    ends = model.vocab * model.hidden
    if layout.pp == 1:
        ends = ends * (1 if model.tied_embeddings else 2) + model.hidden
    return (layers * block + ends) / layout.tp, layers * model.experts * expert / (layout.tp * layout.ep)
