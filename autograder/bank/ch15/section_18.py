"""Section 15.18, Traffic, number by number: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import NETWORK, layer_parameters, part
from autograder.bank.ch15.shared import laid_out
from autograder.items import Order, Question, lazily
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import GB

plan = lazily("solutions.ch15.run_plan")


def _sent(dimension: str) -> float:
    return plan.traffic_per_gpu(LLAMA3_405B, laid_out(8, 1, 16, 128, 16, 8192))[dimension]


QUESTIONS = (
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
        id="cap-dp-traffic",
        kind="derive",
        title="Data-parallel bytes of a step",
        section="15.18",
        bonus=True,
        parts=(
            part(
                "sent per GPU",
                "GB",
                lambda: _sent("dp") / GB,
                ("That is an all-reduce of bf16 gradients, another system.", lambda: _sent("dp") * 4 / 6 / GB),
                ("The weights are gathered in bf16: 2 bytes each.", lambda: _sent("dp") * 8 / 6 / GB),
                (
                    "That counts attention as four squares of h, and all-reduces bf16 gradients.",
                    lambda: 127 / 128 * 4 * (layer_parameters() + 2 * 16_384 * 120 * 128) / GB,
                ),
            ),
            part(
                "time",
                "s",
                lambda: _sent("dp") / NETWORK,
                ("That is an all-reduce of bf16 gradients, another system.", lambda: _sent("dp") * 4 / 6 / NETWORK),
                ("The weights are gathered in bf16: 2 bytes each.", lambda: _sent("dp") * 8 / 6 / NETWORK),
            ),
        ),
        derivation="A reduce-scatter of fp32 gradients and an all-gather of bf16 weights over 128 ranks: "
        "$\\frac{127}{128}\\,(4 + 2)\\,P$, with $P$ the 8 layers of 3.19e9 parameters over 8 tensor-parallel "
        "ranks, at 50 GB/s.",
    ),
)
