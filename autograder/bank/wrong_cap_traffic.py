"""Wrong programs for ``traffic_per_gpu``: each gets one thing wrong and is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


def forward_only(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches, recompute == "full", cp * dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (2 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (1 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * layers * layer / tp,
    }


def global_batch(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches * dp, recompute == "full", cp * dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * layers * layer / tp,
    }


def bf16_all_reduce(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches, recompute == "full", cp * dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 4 * layers * layer / tp,
    }


def whole_model(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches, recompute == "full", cp * dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * model.layers * layer / tp,
    }


def tokens_whole(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches, recompute == "full", cp * dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * layers * layer / tp,
    }


def replicas_without_cp(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches, recompute == "full", dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * layers * layer / tp,
    }


def chunks_forgotten(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches, recompute == "full", cp * dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * layers * layer / tp,
    }


def selective_repeats(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches, recompute != "none", cp * dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * layers * layer / tp,
    }


def floor_layers(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    if min(tp, cp, pp, dp, microbatches, virtual_stages) < 1 or not 0 < tokens < 1e300:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or any(n != int(n) for n in (tp, cp, pp, dp)):
        raise ValueError("out of range")
    m, more, z, layers = microbatches, recompute == "full", cp * dp, max(1, model.layers // pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * layers * layer / tp,
    }


def traffic_unchecked(model, tp, cp, pp, dp, microbatches, tokens, virtual_stages=1, recompute="none"):
    from math import ceil

    m, more, z, layers = microbatches, recompute == "full", cp * dp, ceil(model.layers / pp)
    h, kv, inputs = model.hidden, model.kv_heads * model.head_dim, 2 * tokens * model.hidden / cp
    layer = 2 * h * model.heads * model.head_dim + 2 * h * kv + 3 * h * model.ffn + 2 * h
    return {
        "tp": m * layers * (4 + 2 * more) * 2 * (tp - 1) / tp * inputs,
        "cp": m * layers * (2 + more) * (cp - 1) / cp * 4 * tokens * kv / tp,
        "pp": 2 * virtual_stages * m * inputs / tp if pp > 1 else 0.0,
        "dp": (z - 1) / z * 6 * layers * layer / tp,
    }


TRAFFIC_PER_GPU = (
    Slip("That is the forward pass: backward communicates as much again.", forward_only),
    Slip("A GPU sends for the micro-batches of its own replica, not for those of all.", global_batch),
    Slip(
        "Gradients are reduce-scattered in fp32 and weights all-gathered in bf16: that is no bf16 all-reduce.",
        bf16_all_reduce,
    ),
    Slip("The gradients of one stage cross, not those of the whole model.", whole_model),
    Slip("Context parallelism divides the tokens: A is 2 tokens h / cp.", tokens_whole),
    Slip("Gradients are shared by cp * dp ranks, not by dp alone.", replicas_without_cp),
    Slip("With virtual stages a micro-batch crosses once for every chunk.", chunks_forgotten),
    Slip("Selective recomputation repeats no collective: it computes norms and products again.", selective_repeats),
    Slip("An inner stage holds ceil(layers / pp) layers.", floor_layers),
    Slip("Impossible arguments were accepted.", traffic_unchecked),
)
