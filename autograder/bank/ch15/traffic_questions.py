"""The capstone: the questions about the bubble and about traffic."""

from __future__ import annotations

from autograder.bank.ch15.inputs import NETWORK, layer_parameters, part
from autograder.items import Question, lazily
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import GB

plan = lazily("solutions.ch15.run_plan")
facts = lazily("solutions.ch15.llama_405b")

#: Seconds of one step, as the question gives them.
STEP = 6.23


def overhead_percent(microbatches: int, virtual_stages: int) -> float:
    """Idle over useful time of 16 stages."""
    return 100 * 15 / (virtual_stages * microbatches)


def _speed(virtual_stages: int) -> float:
    return (100 + overhead_percent(32, virtual_stages)) / (100 + overhead_percent(16, virtual_stages))


def _sent(dimension: str) -> float:
    return plan.traffic_per_gpu(LLAMA3_405B, 8, 1, 16, 128, 16, 8192)[dimension]


TRAFFIC = (
    Question(
        id="cap-bubble",
        kind="derive",
        title="The bubble with 8 chunks a rank",
        section="15.17",
        bonus=True,
        parts=(
            part(
                "overhead, idle over useful",
                "%",
                lambda: overhead_percent(16, 8),
                (
                    "That is four micro-batches and no chunks: there are 16, in 8 chunks.",
                    lambda: overhead_percent(4, 1),
                ),
                ("Chunks divide the bubble by v.", lambda: overhead_percent(16, 1)),
            ),
            part(
                "fraction, idle over total",
                "%",
                lambda: 100 * 15 / (8 * 16 + 15),
                (
                    "That is the overhead. In the fraction the bubble is part of the denominator, too.",
                    lambda: overhead_percent(16, 8),
                ),
                ("That is without chunks.", lambda: 100 * 15 / (16 + 15)),
            ),
        ),
        derivation="$$\\frac{p-1}{v m} \\qquad \\frac{p-1}{v m + p - 1}$$\n\nwith $p = 16$, $m = 16$ and $v = 8$.",
    ),
    Question(
        id="cap-infer-v",
        kind="derive",
        title="A setting that nobody printed",
        section="15.17",
        bonus=True,
        parts=(
            part(
                "speed, v = 4",
                "of the speed before",
                lambda: _speed(4),
                ("The run gets slower, so the fraction is below 1: invert it.", lambda: 1 / _speed(4)),
                ("Half the micro-batches double the bubble, not the step.", 0.5),
            ),
            part(
                "speed, v = 8",
                "of the speed before",
                lambda: _speed(8),
                ("The run gets slower, so the fraction is below 1: invert it.", lambda: 1 / _speed(8)),
                ("That is v = 4.", lambda: _speed(4)),
            ),
            part(
                "observed",
                "of the speed before",
                lambda: facts.STAGES[1].flops_per_gpu / facts.STAGES[0].flops_per_gpu,
                ("The run gets slower, so the fraction is below 1: invert it.", lambda: 430 / 400),
            ),
        ),
        derivation="A step takes $1 + (p-1)/(vm)$ of its useful time. From $m = 32$ to $m = 16$ on $p = 16$ stages the "
        "speed falls by $\\frac{1 + 15/(32v)}{1 + 15/(16v)}$; the paper prints 430 and then 400 TFLOP/s. The observed "
        "value lies between the two.",
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
