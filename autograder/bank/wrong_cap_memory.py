"""Wrong programs for ``memory_per_stage``: each gets one thing wrong and is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


def all_in_flight(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    z = {"optimizer": (1, 1), "optimizer+gradients": (1, cp * dp), "all": (cp * dp, cp * dp)}.get(shard)
    if not z or min(tp, cp, dp, microbatches) < 1 or not 0 < tokens < 1e300 or gradient_bytes < 0:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or sum(partition) != model.layers or min(partition) < 0:
        raise ValueError("out of range")
    h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    kept = {"none": 2 * (4 * h + 2 * a + 2 * k + 4 * f), "selective": 2 * (2 * h + 2 * a + 2 * k + 2 * f)}
    rows = []
    for stage, layers in enumerate(partition):
        p = layers * (2 * h * a + 2 * h * k + 3 * h * f + 2 * h) + (model.vocab * h if stage == 0 else 0)
        p = (p + (model.vocab * h + h if stage == len(partition) - 1 else 0)) / tp
        states = p * (gradient_bytes / z[1] + 12 / (cp * dp))
        in_flight = microbatches
        activations = layers * in_flight * tokens / (tp * cp) * kept.get(recompute, 2 * h)
        row = {"parameters": 2 * p / z[0], "states": states, "activations": activations}
        rows.append(row | {"total": sum(row.values())})
    return rows


def depth_in_flight(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    z = {"optimizer": (1, 1), "optimizer+gradients": (1, cp * dp), "all": (cp * dp, cp * dp)}.get(shard)
    if not z or min(tp, cp, dp, microbatches) < 1 or not 0 < tokens < 1e300 or gradient_bytes < 0:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or sum(partition) != model.layers or min(partition) < 0:
        raise ValueError("out of range")
    h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    kept = {"none": 2 * (4 * h + 2 * a + 2 * k + 4 * f), "selective": 2 * (2 * h + 2 * a + 2 * k + 2 * f)}
    rows = []
    for stage, layers in enumerate(partition):
        p = layers * (2 * h * a + 2 * h * k + 3 * h * f + 2 * h) + (model.vocab * h if stage == 0 else 0)
        p = (p + (model.vocab * h + h if stage == len(partition) - 1 else 0)) / tp
        states = p * (gradient_bytes / z[1] + 12 / (cp * dp))
        in_flight = len(partition) - stage
        activations = layers * in_flight * tokens / (tp * cp) * kept.get(recompute, 2 * h)
        row = {"parameters": 2 * p / z[0], "states": states, "activations": activations}
        rows.append(row | {"total": sum(row.values())})
    return rows


def four_squares(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    z = {"optimizer": (1, 1), "optimizer+gradients": (1, cp * dp), "all": (cp * dp, cp * dp)}.get(shard)
    if not z or min(tp, cp, dp, microbatches) < 1 or not 0 < tokens < 1e300 or gradient_bytes < 0:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or sum(partition) != model.layers or min(partition) < 0:
        raise ValueError("out of range")
    h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    kept = {"none": 2 * (4 * h + 2 * a + 2 * k + 4 * f), "selective": 2 * (2 * h + 2 * a + 2 * k + 2 * f)}
    rows = []
    for stage, layers in enumerate(partition):
        p = layers * (4 * h * h + 3 * h * f + 2 * h) + (model.vocab * h if stage == 0 else 0)
        p = (p + (model.vocab * h + h if stage == len(partition) - 1 else 0)) / tp
        states = p * (gradient_bytes / z[1] + 12 / (cp * dp))
        in_flight = min(microbatches, len(partition) - stage)
        activations = layers * in_flight * tokens / (tp * cp) * kept.get(recompute, 2 * h)
        row = {"parameters": 2 * p / z[0], "states": states, "activations": activations}
        rows.append(row | {"total": sum(row.values())})
    return rows


def optimizer_over_tp(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    z = {"optimizer": (1, 1), "optimizer+gradients": (1, cp * dp), "all": (cp * dp, cp * dp)}.get(shard)
    if not z or min(tp, cp, dp, microbatches) < 1 or not 0 < tokens < 1e300 or gradient_bytes < 0:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or sum(partition) != model.layers or min(partition) < 0:
        raise ValueError("out of range")
    h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    kept = {"none": 2 * (4 * h + 2 * a + 2 * k + 4 * f), "selective": 2 * (2 * h + 2 * a + 2 * k + 2 * f)}
    rows = []
    for stage, layers in enumerate(partition):
        p = layers * (2 * h * a + 2 * h * k + 3 * h * f + 2 * h) + (model.vocab * h if stage == 0 else 0)
        p = (p + (model.vocab * h + h if stage == len(partition) - 1 else 0)) / tp
        states = p * (gradient_bytes / z[1] + 12 / (tp * cp * dp))
        in_flight = min(microbatches, len(partition) - stage)
        activations = layers * in_flight * tokens / (tp * cp) * kept.get(recompute, 2 * h)
        row = {"parameters": 2 * p / z[0], "states": states, "activations": activations}
        rows.append(row | {"total": sum(row.values())})
    return rows


def activations_whole(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    z = {"optimizer": (1, 1), "optimizer+gradients": (1, cp * dp), "all": (cp * dp, cp * dp)}.get(shard)
    if not z or min(tp, cp, dp, microbatches) < 1 or not 0 < tokens < 1e300 or gradient_bytes < 0:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or sum(partition) != model.layers or min(partition) < 0:
        raise ValueError("out of range")
    h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    kept = {"none": 2 * (4 * h + 2 * a + 2 * k + 4 * f), "selective": 2 * (2 * h + 2 * a + 2 * k + 2 * f)}
    rows = []
    for stage, layers in enumerate(partition):
        p = layers * (2 * h * a + 2 * h * k + 3 * h * f + 2 * h) + (model.vocab * h if stage == 0 else 0)
        p = (p + (model.vocab * h + h if stage == len(partition) - 1 else 0)) / tp
        states = p * (gradient_bytes / z[1] + 12 / (cp * dp))
        in_flight = min(microbatches, len(partition) - stage)
        activations = layers * in_flight * tokens / cp * kept.get(recompute, 2 * h)
        row = {"parameters": 2 * p / z[0], "states": states, "activations": activations}
        rows.append(row | {"total": sum(row.values())})
    return rows


def no_ends(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    z = {"optimizer": (1, 1), "optimizer+gradients": (1, cp * dp), "all": (cp * dp, cp * dp)}.get(shard)
    if not z or min(tp, cp, dp, microbatches) < 1 or not 0 < tokens < 1e300 or gradient_bytes < 0:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or sum(partition) != model.layers or min(partition) < 0:
        raise ValueError("out of range")
    h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    kept = {"none": 2 * (4 * h + 2 * a + 2 * k + 4 * f), "selective": 2 * (2 * h + 2 * a + 2 * k + 2 * f)}
    rows = []
    for stage, layers in enumerate(partition):
        p = layers * (2 * h * a + 2 * h * k + 3 * h * f + 2 * h) / tp
        states = p * (gradient_bytes / z[1] + 12 / (cp * dp))
        in_flight = min(microbatches, len(partition) - stage)
        activations = layers * in_flight * tokens / (tp * cp) * kept.get(recompute, 2 * h)
        row = {"parameters": 2 * p / z[0], "states": states, "activations": activations}
        rows.append(row | {"total": sum(row.values())})
    return rows


def replicas_without_cp(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    z = {"optimizer": (1, 1), "optimizer+gradients": (1, dp), "all": (dp, dp)}.get(shard)
    if not z or min(tp, cp, dp, microbatches) < 1 or not 0 < tokens < 1e300 or gradient_bytes < 0:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or sum(partition) != model.layers or min(partition) < 0:
        raise ValueError("out of range")
    h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    kept = {"none": 2 * (4 * h + 2 * a + 2 * k + 4 * f), "selective": 2 * (2 * h + 2 * a + 2 * k + 2 * f)}
    rows = []
    for stage, layers in enumerate(partition):
        p = layers * (2 * h * a + 2 * h * k + 3 * h * f + 2 * h) + (model.vocab * h if stage == 0 else 0)
        p = (p + (model.vocab * h + h if stage == len(partition) - 1 else 0)) / tp
        states = p * (gradient_bytes / z[1] + 12 / dp)
        in_flight = min(microbatches, len(partition) - stage)
        activations = layers * in_flight * tokens / (tp * cp) * kept.get(recompute, 2 * h)
        row = {"parameters": 2 * p / z[0], "states": states, "activations": activations}
        rows.append(row | {"total": sum(row.values())})
    return rows


def memory_unchecked(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    z = {"optimizer": (1, 1), "optimizer+gradients": (1, cp * dp), "all": (cp * dp, cp * dp)}.get(shard, (1, 1))
    h, a, k, f = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    kept = {"none": 2 * (4 * h + 2 * a + 2 * k + 4 * f), "selective": 2 * (2 * h + 2 * a + 2 * k + 2 * f)}
    rows = []
    for stage, layers in enumerate(partition):
        p = layers * (2 * h * a + 2 * h * k + 3 * h * f + 2 * h) + (model.vocab * h if stage == 0 else 0)
        p = (p + (model.vocab * h + h if stage == len(partition) - 1 else 0)) / tp
        states = p * (gradient_bytes / z[1] + 12 / (cp * dp))
        in_flight = min(microbatches, len(partition) - stage)
        activations = layers * in_flight * tokens / (tp * cp) * kept.get(recompute, 2 * h)
        row = {"parameters": 2 * p / z[0], "states": states, "activations": activations}
        rows.append(row | {"total": sum(row.values())})
    return rows


MEMORY_PER_STAGE = (
    Slip("1F1B keeps min(m, p - i) micro-batches on stage i, not all of them.", all_in_flight),
    Slip("A stage never keeps more micro-batches than there are: min(m, p - i).", depth_in_flight),
    Slip("Attention is no 4 h^2: keys and values have kv_heads heads, queries heads * head_dim.", four_squares),
    Slip(
        "The optimizer states of a stage are divided by tp already: only cp * dp ranks share them.", optimizer_over_tp
    ),
    Slip("Sequence parallelism divides the tokens by tp, too.", activations_whole),
    Slip("The first stage holds the embedding, the last one the norm and the head.", no_ends),
    Slip("Context-parallel ranks share the states, too: cp * dp of them.", replicas_without_cp),
    Slip("Impossible arguments were accepted.", memory_unchecked),
)
