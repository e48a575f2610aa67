"""Wrong programs for ``memory_per_stage``: edits of the reference."""

from autograder.items import Slip

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
        "Attention is no 4 h²: keys and values have kv_heads heads, queries heads * head_dim.",
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
            "        parameters += model.vocab * model.hidden if stage == 0 else 0\n"
            "        parameters += model.vocab * model.hidden + model.hidden if stage == stages - 1 else 0\n",
            "",
        ),
    ),
    Slip(
        "Context-parallel ranks share the states, too: cp * dp of them.",
        edit=("replicas, stages = cp * dp", "replicas, stages = dp"),
    ),
)
