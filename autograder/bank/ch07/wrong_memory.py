"""Wrong versions of ``layout_memory``. Each is complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations


def slip_any_layout(layout, job):
    model, tp, cp, pp = job.model, layout.tp, layout.cp, layout.pp
    microbatches = job.global_batch // (layout.dp * job.micro_batch)
    hidden, matrices = model.hidden, 3 if model.gated else 2
    expert = matrices * hidden * model.expert_ffn
    block = 2 * hidden * model.head_dim * (model.heads + model.kv_heads) + 2 * hidden
    block += hidden * model.experts + model.shared_experts * expert if model.experts else matrices * hidden * model.ffn
    ends = model.vocab * hidden if pp > 1 else model.vocab * hidden * (1 if model.tied_embeddings else 2) + hidden
    layers = -(-model.layers // pp)
    shared, experts = (layers * block + ends) / tp, layers * model.experts * expert / (tp * layout.ep)
    states, shards = 0.0, layout.dp * cp
    for parameters, z in ((shared, shards), (experts, max(1, shards // layout.ep))):
        weights, gradients = 2 / (z if layout.zero > 2 else 1), 2 / (z if layout.zero > 1 else 1)
        states += parameters * (weights + gradients + 12 / z)
    layers, chunks = -(-model.layers // pp), layout.virtual_stages
    held = min(microbatches, pp if chunks == 1 else pp + (pp - 1) / chunks)
    unit = job.micro_batch * job.sequence * hidden / (tp * cp)
    return states, unit * (2 * layers * held + 34 if layout.recompute else 34 * layers * held)
