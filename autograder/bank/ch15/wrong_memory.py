"""Wrong programs for ``memory_per_stage``: each gets one thing wrong and is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


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
    Slip(
        "1F1B keeps min(m, p - i) micro-batches on stage i, not all of them.",
        edit=("min(microbatches, stages - stage)", "microbatches"),
    ),
    Slip(
        "A stage never keeps more micro-batches than there are: min(m, p - i).",
        edit=("min(microbatches, stages - stage)", "(stages - stage)"),
    ),
    Slip(
        "Attention is no 4 h^2: keys and values have kv_heads heads, queries heads * head_dim.",
        edit=(
            "    attention = 2 * model.hidden * (model.heads + model.kv_heads) * model.head_dim",
            "    attention = 4 * model.hidden * model.hidden",
        ),
    ),
    Slip(
        "The optimizer states of a stage are divided by tp already: only cp * dp ranks share them.",
        edit=("12 / replicas", "12 / (tp * replicas)"),
    ),
    Slip("Sequence parallelism divides the tokens by tp, too.", edit=("tokens / (tp * cp)", "tokens / cp")),
    Slip(
        "The first stage holds the embedding, the last one the norm and the head.",
        edit=(
            (
                "        parameters += model.vocab * model.hidden if stage == 0 else 0\n"
                "        parameters += model.vocab * model.hidden + model.hidden if stage == "
                "stages - 1 else 0\n"
            ),
            "",
        ),
    ),
    Slip(
        "Context-parallel ranks share the states, too: cp * dp of them.",
        edit=("replicas, stages = cp * dp", "replicas, stages = dp"),
    ),
    Slip(
        "Arguments outside their ranges were accepted, or raised another exception than ValueError.", memory_unchecked
    ),
)
