"""Chapter 7: ``layout_memory``, memory of a layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from random import Random

from autograder.bank.ch07.shared import BIG, DENSE, MIDDLE
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, lazily
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import GPT2_XL, LLAMA2_13B, LLAMA3_8B, LLAMA32_1B, MIXTRAL_8X7B, Model

layout = lazily("solutions.ch07.layout")


def _drawn(rng: Random, models: tuple[Model, ...], fits: Callable[[Layout], bool]) -> Case:
    """A layout of a random job that ``fits``, with several micro-batches."""
    while True:
        gpus = rng.choice((8, 16, 32, 64))
        batch, sequence, micro_batch = gpus * rng.choice((8, 16)), rng.choice((2048, 4096, 8192)), rng.choice((1, 2, 4))
        job = Job(rng.choice(models), gpus, batch, sequence, micro_batch)
        found = [candidate for candidate in layout.candidates(job) if fits(candidate)]
        if found:
            return Case((rng.choice(found), job))


def _split(rng: Random, models: tuple[Model, ...] = DENSE, pp: int = 0, cp: int = 0) -> Case:
    def fits(one: Layout) -> bool:
        wanted = one.pp == (pp or one.pp) and one.cp == (cp or one.cp)
        return wanted and one.tp > 1 and one.pp > 1 and one.virtual_stages == 1 and not one.recompute

    return _drawn(rng, models, fits)


def _splits(rng: Random) -> list[Case]:
    """Layers that the stages do not divide, a sequence that is cut, and fewer micro-batches than stages."""
    few = Job(rng.choice(DENSE), 64, 4 * rng.randint(2, 7), 4096)
    return [_split(rng, (LLAMA2_13B,), pp=16), _split(rng, cp=2), Case((Layout(2, 1, 8, 4), few))]


def _replicated(rng: Random, zero: int | None = None, models: tuple[Model, ...] = DENSE) -> Case:
    wanted = rng.choice((1, 2, 3)) if zero is None else zero
    return _drawn(rng, models, lambda one: one.pp == 1 and one.dp > 1 and one.zero == wanted and not one.recompute)


def _replicas(rng: Random) -> list[Case]:
    """Every stage of ZeRO; a head that is tied to the embedding, and blocks without a gate."""
    kinds = ((1, (LLAMA32_1B,)), (2, (GPT2_XL,)), (3, (LLAMA3_8B, LLAMA2_13B)))
    return [_replicated(rng, zero, models) for zero, models in kinds]


def _with_chunks(rng: Random) -> Case:
    return _drawn(rng, DENSE, lambda one: one.virtual_stages > 1 and not one.recompute)


def _recomputed(rng: Random) -> Case:
    return _drawn(rng, DENSE, lambda one: one.recompute)


#: Two experts of a layer are visited by every token.
SHARING = replace(MIXTRAL_8X7B, name="Mixtral with shared experts", shared_experts=2)


def _with_experts(rng: Random, model: Model = MIXTRAL_8X7B) -> Case:
    return _drawn(rng, (model,), lambda one: one.ep > 1 and one.dp > one.ep)


def _mixtures(rng: Random) -> list[Case]:
    return [_with_experts(rng, model) for model in (MIXTRAL_8X7B, SHARING, replace(SHARING, gated=False))]


def _memory(**broken):
    """``layout_memory`` in other words; ``broken`` replaces what one of its sentences says."""

    def program(layout, job):
        model, m = job.model, job.global_batch // (layout.dp * job.micro_batch)
        h, q, kv = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim
        matrices = broken.get("matrices", 3 if model.gated else 2)
        expert = matrices * h * model.expert_ffn
        inner = h * model.experts + broken.get("shared", model.shared_experts) * expert
        block = 2 * h * (q + kv) + broken.get("norms", 2 * h) + (inner if model.experts else matrices * h * model.ffn)
        layers = broken.get("rounded", ceil)(model.layers / layout.pp)
        tied = broken.get("tied", model.tied_embeddings)
        ends = model.vocab * h * (1 if layout.pp > 1 or tied else 2)
        ends += broken.get("last_norm", h) if layout.pp == 1 else 0
        z, states = layout.dp * layout.cp, 0.0
        experts = layers * model.experts * expert / layout.ep
        for parameters, ranks in ((layers * block + ends, z), (experts, z // layout.ep)):
            divided = [ranks if layout.zero >= at else 1 for at in broken.get("zero", (3, 2, 1))]
            states += parameters / layout.tp * sum(part / by for part, by in zip((2, 2, 12), divided, strict=True))
        tokens = job.sequence * job.micro_batch / (layout.tp * broken.get("cp", layout.cp))
        width = broken.get(
            "width", (model.top_k + model.shared_experts) * model.expert_ffn if model.experts else model.ffn
        )
        whole = 2 * tokens * (4 * h + 2 * q + 2 * kv + 4 * width)
        if not (model.gated or broken.get("gated")):
            whole -= tokens * (4 * width - broken.get("masks", 2) * h)
        v = layout.virtual_stages
        flying = layout.pp + (layout.pp - 1) / v if v > 1 and not broken.get("chunks") else layout.pp
        held = layers * (flying if broken.get("few") else min(m, flying))
        inputs = 2 * held * tokens * h + broken.get("again", 1) * whole
        return states, inputs if layout.recompute else held * whole

    return program


EXERCISE = Build(
    "07 layout.layout_memory",
    section="7.25",
    topic="memory of a layout",
    bonus=True,
    cases=(
        Case((Layout(8, 1, 16, 128, 1, 2), BIG)),  # the Llama 3 report, table 4
        Case((Layout(8, 1, 4, 2), MIDDLE)),
        Case((Layout(1, 1, 1, 64, 1, 3, 1, True), MIDDLE)),
        Case((Layout(8, 1, 4, 2, virtual_stages=2), MIDDLE)),
        Case((Layout(1, 1, 1, 16, 8, 3), Job(MIXTRAL_8X7B, 16, 1024, 4096))),
        Case((Layout(1, 1, 1, 1), Job(LLAMA3_8B, 1, 8, 2048))),
    ),
    groups=(
        Group(
            "split models", _split, 5, "TP and PP divide the parameters; a stage holds several micro-batches.", _splits
        ),
        listed("replicas", _replicas, "What ZeRO divides, it divides among all dp cp ranks that hold the same shard."),
        Group("chunks", _with_chunks, 3, "Chunks on a rank hold more micro-batches than whole stages."),
        Group("recomputation", _recomputed, 3, "Recomputation keeps the inputs of the layers, and one layer in full."),
        listed("experts", _mixtures, "Experts are divided among EP ranks; copies of one expert are fewer."),
    ),
    slips=(
        Slip(
            "TP and PP divide the states as well: a GPU holds its shard of its stage.",
            edit=(
                "shared, experts = parameters_on_gpu(layout, job.model)",
                "shared, experts = (layout.tp * layout.pp * part for part in parameters_on_gpu(layout, job.model))",
            ),
        ),
        Slip("Optimizer states take 12 bytes: the fp32 master copy was lost.", edit=("12 / ranks", "8 / ranks")),
        Slip(
            "A micro-batch is in flight, not the global batch.",
            edit=("job.sequence * job.micro_batch /", "job.sequence * job.global_batch /"),
        ),
        Slip(
            "A stage of a pipeline holds several micro-batches at once.",
            edit=(
                "stage_size(layout, job.model) * min(microbatches, layout.pp + more)",
                "stage_size(layout, job.model)",
            ),
        ),
        Slip(
            "An expert has dp cp / ep copies: EP has divided the experts already, ZeRO divides its copies alone.",
            edit=("_state_bytes(layout.zero, ranks // layout.ep)", "_state_bytes(layout.zero, ranks)"),
        ),
        Slip(
            "While one layer is computed again, its activations are there in full.",
            edit=("model.hidden + whole if", "model.hidden if"),
        ),
        Slip(
            "A token visits several experts, and each of them keeps the inner width of an expert.",
            edit=("(model.top_k + model.shared_experts) * model.expert_ffn", "model.expert_ffn"),
        ),
        Slip(
            "That is 34 s b h, a layer like GPT-3's. A gate adds two tensors of width f, and there is no dropout.",
            edit=(
                "whole = 2 * tokens * (norms * model.hidden + 2 * heads + middle * inner)",
                "whole = 34 * tokens * model.hidden",
            ),
        ),
    ),
    rights=(
        Right(
            "bytes per parameter over one denominator",
            edit=(
                "return 2 / (ranks if zero >= 3 else 1) + 2 / (ranks if zero >= 2 else 1) + 12 / ranks",
                "return (2 * (1 if zero >= 3 else ranks) + 2 * (1 if zero >= 2 else ranks) + 12) / ranks",
            ),
        ),
        Right(
            "activations in numbers, and the two bytes of each last",
            edits=(
                (
                    "whole = 2 * tokens * (norms * model.hidden + 2 * heads + middle * inner)",
                    "whole = (norms * model.hidden + 2 * heads + middle * inner) * tokens",
                ),
                (
                    "held * 2 * tokens * model.hidden + whole if layout.recompute else held * whole",
                    "2 * (held * model.hidden * tokens + whole if layout.recompute else held * whole)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "In grading it and the job are records with their fields alone.",
            why="what a program is handed when it is graded",
        ),
        Promise("3 (gated) or 2 matrices", program=_memory(matrices=3)),
        Promise("and ``shared_experts`` experts", program=_memory(shared=0)),
        Promise("and two norms of h", program=_memory(norms=0)),
        Promise("A stage has Ls = ceil(layers / pp) layers", program=_memory(rounded=int)),
        Promise("one if they are tied", program=_memory(tied=False)),
        Promise("and the last norm", program=_memory(last_norm=0)),
        Promise("2 of gradients (over z with ZeRO-2 and 3)", program=_memory(zero=(3, 3, 1))),
        Promise("2 of weights (over z with ZeRO-3)", program=_memory(zero=(2, 2, 1))),
        Promise("divided by tp cp", program=_memory(cp=1)),
        Promise("or without a gate", program=_memory(gated=True)),
        Promise("which counts masks of dropout", program=_memory(masks=0)),
        Promise("for a mixture", program=_memory(width=0)),
        Promise("min(m, pp + (pp - 1) / v)", program=_memory(chunks=True)),
        Promise("A rank holds min(m, pp) micro-batches", program=_memory(few=True)),
        Promise("and one layer is there in full", program=_memory(again=0)),
    ),
)
