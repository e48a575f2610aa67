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
    for tp, cp, pp in product([d for d in sizes if job.gpus_per_node % d == 0], sizes, sizes):
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
    tokens, layers = job.sequence * job.micro_batch / (layout.tp * layout.cp), ceil(job.model.layers / p)
    full, inputs = tokens * _kept(job.model), tokens * 2 * job.model.hidden
    return states, layers * flying * inputs + full if layout.recompute else layers * flying * full


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

    fast, slow = job.node_bandwidth, job.network_bandwidth
    steps = {"tp": (t, 1), "cp": (c, t), "ep": (e, t * c), "pp": (p, t * c * e), "dp": (layout.dp // e, t * c * e * p)}

    def group(*axes):
        """Members of rank 0's group, and how many of them are in its node."""
        ranks = [sum(place) for place in product(*(range(0, steps[a][0] * steps[a][1], steps[a][1]) for a in axes))]
        return len(ranks), sum(rank < job.gpus_per_node for rank in ranks)

    def reduced(size, *axes):
        """Seconds of half an all-reduce of ``size`` bytes: inside the nodes, and through one port of each member."""
        n, near = group(*axes)
        nodes = ceil(n / near)
        two_levels = size * ((near - 1) / near / fast + (nodes - 1) / nodes / near / slow)
        return max(two_levels, size * (n - 1) / n / fast)

    def passed_on(size, axis):
        n, near = group(axis)
        return size / (fast if near == n else slow)

    def swapped(size):
        n, near = group("ep")
        return size / n * max((near - 1) / fast, (n - near) / slow)

    unit += layers * n * 2 * reduced(activation / c, "tp")
    unit += passed_on(layers * rounds * (c - 1) / c * 4 * tokens * model.kv_heads * model.head_dim / t, "cp")
    unit += layers * n * swapped(model.top_k * activation / (t * c))
    unit += passed_on(2 * v * activation / (t * c), "pp") if p > 1 else 0
    shared, experts = _weights(layout, job)
    gather = reduced(2 * shared, "cp", "ep", "dp") + reduced(2 * experts, "cp", "dp")
    if layout.zero == 3:
        late = m * max(0.0, 3 * gather - unit)
    else:
        late = max(0.0, 2 * gather - 2 / 3 * unit)
        late += (m - 1) * max(0.0, gather - 2 / 3 * unit) * (layout.zero == 2)
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


def _kept(model):
    """Bytes of one layer for one token, tensor by tensor: norms, their outputs, attention, the MLP."""
    width, inner = model.heads * model.head_dim, model.ffn
    if model.experts:
        inner = model.expert_ffn * (model.top_k + model.shared_experts)
    numbers = 2 * model.hidden + 2 * model.hidden + width + width + 2 * model.kv_heads * model.head_dim
    return 2 * (numbers + 4 * inner) if model.gated else 2 * (numbers + 2 * inner) + 2 * model.hidden


def _weights(layout, job):
    """Parameters on a GPU: shared ones, and those of experts."""
    model, layers = job.model, ceil(job.model.layers / layout.pp)
    block, expert = _layer(model)
    ends = model.vocab * model.hidden
    if layout.pp == 1:
        ends = ends * (1 if model.tied_embeddings else 2) + model.hidden
    return (layers * block + ends) / layout.tp, layers * model.experts * expert / (layout.tp * layout.ep)
