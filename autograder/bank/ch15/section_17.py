"""Section 15.17, A setting that nobody printed: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import part
from autograder.items import Question, lazily

facts = lazily("solutions.ch15.llama_405b")


def overhead_percent(microbatches: int, virtual_stages: int) -> float:
    """Idle over useful time of 16 stages."""
    return 100 * 15 / (virtual_stages * microbatches)


def _speed(virtual_stages: int) -> float:
    return (100 + overhead_percent(32, virtual_stages)) / (100 + overhead_percent(16, virtual_stages))


QUESTIONS = (
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
)
