"""The capstone: the questions about layout and memory."""

from __future__ import annotations

from autograder.bank.ch15.inputs import layer_parameters, part
from autograder.items import Choice, Order, Question, lazily
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import GB, million

plan = lazily("solutions.ch15.run_plan")
facts = lazily("solutions.ch15.llama_405b")

#: The paper's second layout: TP, CP, DP, micro-batches and tokens of one.
LAYOUT = (8, 1, 128, 16, 8192)


def _stages() -> list[int]:
    return plan.partition_layers(126, 16, 1, 1)


def stage_gigabytes(
    recompute: str = "none", shard: str = "optimizer+gradients", layout: tuple[int, ...] = LAYOUT
) -> list[float]:
    """Memory of each stage."""
    rows = plan.memory_per_stage(LLAMA3_405B, _stages(), *layout, shard=shard, recompute=recompute)
    return [row["total"] / GB for row in rows]


def _fullest() -> int:
    return max(range(16), key=stage_gigabytes().__getitem__)


def _ramp_steps() -> float:
    steps, start = 0.0, 0.0
    for tokens, _, end in facts.RAMP:
        steps, start = steps + (end - start) / tokens, end
    return steps / million


LAYOUTS = (
    Question(
        id="cap-dp",
        kind="derive",
        title="What is left for data parallelism",
        section="15.15",
        bonus=True,
        parts=(
            part(
                "TP 8, PP 16, CP 1",
                "",
                lambda: 16_384 // (8 * 16),
                ("Divide by the pipeline's stages, too.", 16_384 / 8),
                tolerance=0,
            ),
            part(
                "with CP 16",
                "",
                lambda: 16_384 // (8 * 16 * 16),
                ("The first version of the paper says so, but that would use only half of the GPUs.", 4),
                ("Context-parallel ranks are GPUs, too: they divide.", 128),
                tolerance=0,
            ),
        ),
        derivation="$\\mathrm{TP} \\cdot \\mathrm{CP} \\cdot \\mathrm{PP} \\cdot \\mathrm{DP} = n$ with $n = 16384$.",
    ),
    Question(
        id="cap-tokens",
        kind="derive",
        title="Tokens of one step",
        section="15.15",
        bonus=True,
        parts=(
            part(
                "tokens",
                "",
                lambda: 16 * 128 * 8192,
                ("That is the batch at the beginning of the ramp.", 4 * 2**20),
                ("That is one replica.", 16 * 8192),
                ("The M of 16M is not a million here: multiply.", 16e6),
                tolerance=0,
            ),
        ),
        derivation="Sequences per replica, 16, times replicas, 128, times tokens of a sequence, 8,192.",
    ),
    Question(
        id="cap-steps",
        kind="derive",
        title="Optimizer steps along the ramp",
        section="15.15",
        bonus=True,
        parts=(
            part(
                "steps",
                "million",
                _ramp_steps,
                ("Not all steps hold 16M tokens: the batch grows.", lambda: 15.6e12 / (16 * 2**20) / million),
                ("That is the schedule of the learning rate; the tokens end before it.", 1.2),
                tolerance=0.05,
            ),
        ),
        derivation="Tokens of each stretch over the tokens of its step: 252e6 at $4 \\cdot 2^{20}$, then up to "
        "2.87e12 at $8 \\cdot 2^{20}$, then up to 15.6e12 at $16 \\cdot 2^{20}$.",
    ),
    Question(
        id="cap-stages",
        kind="derive",
        title="Layers on 16 stages",
        section="15.15",
        bonus=True,
        parts=(
            part(
                "first stage",
                "layers",
                lambda: _stages()[0],
                ("The embedding counts as a layer there.", 8),
                tolerance=0,
            ),
            part(
                "an inner stage",
                "layers",
                lambda: _stages()[1],
                ("126 over 16 is no whole number, and the ends take less.", 7),
                tolerance=0,
            ),
            part("last stage", "layers", lambda: _stages()[-1], ("The head counts as a layer there.", 8), tolerance=0),
        ),
        derivation="Embedding and head count as a layer each: 128 places on 16 stages, then one is taken from the "
        "first stage and one from the last.",
    ),
    Order(
        id="cap-order",
        kind="trace",
        title="Dimensions from the inside out",
        section="15.18",
        bonus=True,
        steps=("tensor parallelism", "context parallelism", "pipeline parallelism", "data parallelism"),
        derivation="The innermost dimension needs the fastest links and waits for them in every layer; the outermost "
        "sends once per step and can hide it. Keys and values travel in every layer, activations once for each "
        "micro-batch.",
    ),
    Question(
        id="cap-weights",
        kind="derive",
        title="Weights of one GPU",
        section="15.16",
        bonus=True,
        parts=(
            part(
                "bf16 weights",
                "GB",
                lambda: 8 * layer_parameters() / 8 * 2 / GB,
                (
                    "That counts attention as four squares of h.",
                    lambda: 8 * (layer_parameters() + 2 * 16_384 * 120 * 128) / 8 * 2 / GB,
                ),
                ("Tensor parallelism divides the weights by 8.", lambda: 8 * layer_parameters() * 2 / GB),
            ),
        ),
        derivation="An inner stage holds 8 layers of 3.19e9 parameters, over 8 tensor-parallel ranks, 2 bytes "
        "each (TP 8, PP 16).",
    ),
    Choice(
        id="cap-fits",
        kind="design",
        title="The cheapest recomputation that fits",
        section="15.16",
        bonus=True,
        options=(
            "selective: the outputs of norms, of the SiLU and of its product are computed again",
            "none: everything is kept",
            "full: every layer is computed again",
            "not even full recomputation fits",
        ),
        correct=0,
        derivation="TP 8, CP 1, PP 16, DP 128, 16 micro-batches of 8,192 tokens, fp32 gradients whole on every "
        "replica: the states take 2 bytes a weight, 4 a gradient and 12/128 of optimizer. Add the activations of "
        "stage 1 for each kind and compare the sum with 80 GB; full recomputation costs a third more FLOP.",
        slips={
            1: "With the gradients whole, stage 1 needs more than 80 GB.",
            2: "It fits, but pays a third more FLOP where selective recomputation is nearly free.",
            3: "Selective recomputation keeps about half of the activations: add it up.",
        },
    ),
)
