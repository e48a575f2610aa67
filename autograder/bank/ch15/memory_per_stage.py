"""The capstone: ``memory_per_stage``, memory of a stage."""

from __future__ import annotations

from random import Random

from autograder.bank.ch15.shared import RECOMPUTE, SHARDS, llama
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.models import LLAMA2_7B, LLAMA3_8B, LLAMA3_405B


def _staged(rng: Random, recompute: str | None = None, shard: str | None = None, few: bool | None = None) -> Case:
    """A pipeline with fewer micro-batches than stages (``few``), or with more."""
    partition = [rng.randint(1, 9) for _ in range(rng.randint(5, 16))]
    few = rng.random() < 0.5 if few is None else few
    microbatches = rng.randint(2, 4) if few else rng.randint(18, 64)
    ranks = rng.choice((3, 6, 8)), rng.choice((2, 4)), rng.choice((3, 8, 64))
    options = {"shard": shard or rng.choice(SHARDS), "recompute": recompute or rng.choice(RECOMPUTE)}
    tokens = rng.choice((4096, 8192, 16_384))
    return Case((llama(rng, sum(partition)), partition, *ranks, microbatches, tokens), options)


def _every_kind(rng: Random) -> list[Case]:
    pairs = [(recompute, SHARDS[index]) for index, recompute in enumerate(RECOMPUTE)]
    return [_staged(rng, recompute, shard, few) for recompute, shard in pairs for few in (True, False)]


def _one_stage(rng: Random) -> Case:
    layers = rng.randint(4, 40)
    case = (llama(rng, layers), [layers], rng.choice((1, 2)), 1, rng.choice((1, 8)), rng.randint(1, 8), 4096)
    return Case(case, {"gradient_bytes": rng.choice((2, 4)), "recompute": rng.choice(RECOMPUTE)})


_405B = (LLAMA3_405B, [7, *[8] * 14, 7], 8, 1, 128, 16, 8192)


def memory_by_matrices(
    model, partition, tp, cp, dp, microbatches, tokens, shard="optimizer+gradients", gradient_bytes=4, recompute="none"
):
    """Every parameter divided first; the bytes of a micro-batch by its tokens on one GPU."""
    from solutions.ch15.run_plan import memory_per_stage

    memory_per_stage(model, partition, tp, cp, dp, microbatches, tokens, shard, gradient_bytes, recompute)
    heads, keys = model.heads * model.head_dim, model.kv_heads * model.head_dim
    layer = model.hidden * (2 * heads + 2 * keys + 3 * model.ffn + 2) / tp
    vocabulary = model.vocab * model.hidden / tp
    z = cp * dp
    norms_and_middle = {"none": 4, "cheap": 2}
    rows = []
    for stage, layers in enumerate(partition):
        last = stage == len(partition) - 1
        mine = layers * layer + vocabulary * (stage == 0) + (vocabulary + model.hidden / tp) * last
        weights = 2 * mine / (z if shard == "all" else 1)
        states = (gradient_bytes * (z if shard == "optimizer" else 1) + 12) * mine / z
        count = norms_and_middle.get(recompute)
        wide = 2 * heads + 2 * keys + count * (model.hidden + model.ffn) if count else model.hidden
        kept = 2 * wide * layers * min(microbatches, len(partition) - stage) * (tokens / cp / tp)
        rows.append({"total": kept + states + weights, "parameters": weights, "states": states, "activations": kept})
    return rows


EXERCISE = Build(
    "cap run_plan.memory_per_stage",
    section="15.4",
    topic="memory of a stage",
    cases=(
        Case(_405B),  # the paper's second layout: 16 micro-batches of one sequence
        Case(_405B, {"recompute": "cheap"}),
        Case(_405B, {"shard": "optimizer", "recompute": "full"}),
        Case((LLAMA3_8B, [16, 16], 2, 2, 2, 1, 8192), {"shard": "all", "gradient_bytes": 2}),
        Case((LLAMA2_7B, [32], 1, 1, 8, 4, 4096)),
    ),
    groups=(
        Group("pipelines", _staged, 8, "Each stage by itself: its layers, its ends, its micro-batches.", _every_kind),
        Group("one stage", _one_stage, 3, "One stage holds everything, and one micro-batch at a time."),
    ),
    slips=(
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
    ),
    rights=(
        Right("every factor divided first", program=memory_by_matrices),
        Right(
            "bytes of a parameter as one number",
            edits=(
                (
                    'gradient_bytes / (1 if shard == "optimizer" else replicas) + 12 / replicas',
                    '(gradient_bytes * (replicas if shard == "optimizer" else 1) + 12) / replicas',
                ),
                ('"parameters": parameters / tp * weight_bytes', '"parameters": parameters * weight_bytes / tp'),
                (
                    "kept = _activation_bytes(model, recompute) * tokens / (tp * cp)",
                    "kept = tokens / cp * _activation_bytes(model, recompute) / tp",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "as a gradient and 12 as optimizer state (Adam in fp32: master copy and two moments)",
            edit=("+ 12 / replicas", "+ 8 / replicas"),
        ),
        Promise(
            "``shard`` divides some of it by ``cp * dp``",
            edit=("replicas, stages = cp * dp,", "replicas, stages = dp,"),
        ),
        Promise("of the embedding on the first stage", edit=("if stage == 0 else 0", "if stage == stages - 1 else 0")),
        Promise(
            "head on the last one",
            edit=("model.hidden + model.hidden if", "model.hidden if"),
        ),
        Promise(
            "tensor parallelism divides them by ``tp``",
            edit=('"parameters": parameters / tp * weight_bytes', '"parameters": parameters * weight_bytes'),
        ),
        Promise(
            "``min(microbatches, p - i)`` micro-batches",
            edit=("min(microbatches, stages - stage)", "(stages - stage)"),
        ),
        Promise(
            "``min(microbatches, p - i)`` micro-batches",
            edit=("min(microbatches, stages - stage)", "min(microbatches, stages)"),
        ),
        Promise(
            '``2h``, the layer\'s input, with ``"full"``',
            edit=("        return 2 * model.hidden\n", "        return 4 * model.hidden\n"),
        ),
    ),
)
