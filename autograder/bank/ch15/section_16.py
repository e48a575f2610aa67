"""Section 15.16, Activations, counted: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import layer_parameters
from autograder.items import Choice, Question, Slip
from rankzero.facts.units import GB

QUESTIONS = (
    Question(
        id="cap-weights",
        kind="derive",
        title="Weights of one GPU",
        section="15.16",
        bonus=True,
        ask="bf16 weights",
        unit="GB",
        answer=lambda: 8 * layer_parameters() / 8 * 2 / GB,
        slips=(
            Slip(
                "That counts attention as four squares of h.",
                value=lambda: 8 * (layer_parameters() + 2 * 16_384 * 120 * 128) / 8 * 2 / GB,
            ),
            Slip("Tensor parallelism divides the weights by 8.", value=lambda: 8 * layer_parameters() * 2 / GB),
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
            "The outputs of norms, of the SiLU and of its product are computed again.",
            "Nothing is computed again: everything is kept.",
            "Every layer is computed again, from its input.",
            "Nothing fits, not even if every layer is computed again.",
        ),
        correct=0,
        derivation="TP 8, CP 1, PP 16, DP 128, 16 micro-batches of 8,192 tokens, fp32 gradients whole on every "
        "replica: the states take 2 bytes a weight, 4 a gradient and 12/128 of optimizer. Add the activations of "
        "stage 1 for each kind and compare the sum with 80 GB; full recomputation costs a third more FLOP.",
        slips={
            1: "With the gradients whole, stage 1 needs more than 80 GB.",
            2: "It fits, but pays a third more FLOP where cheap recomputation is nearly free.",
            3: "Cheap recomputation keeps about half of the activations: add it up.",
        },
    ),
)
