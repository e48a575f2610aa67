"""Section 14.30, Which system is what: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Estimate, Landmark, Slip


def _changed(size: float = 0.02, step: float = 1e-6) -> float:
    """Percent of normal weights of this size whose bf16 value a step changes: the step over the spacing, at most 1.

    bf16 has 128 numbers between powers of two, so a weight between 2^k and 2^(k+1) has neighbors 2^(k-7) apart.
    """
    share = 0.0
    for k in range(-60, 4):
        low, high = (math.erf(2.0**at / size / math.sqrt(2)) for at in (k, k + 1))
        share += (high - low) * min(1.0, step / 2.0 ** (k - 7))
    return 100 * share


QUESTIONS = (
    Estimate(
        id="14-changed-share",
        title="What a step changes",
        section="14.30",
        bonus=True,
        label="bf16 weights that differ after one step",
        unit="%",
        answer=_changed,
        factor=3.0,
        scale=(0.001, 100.0),
        landmarks=(Landmark(100.0, "100 %", "all move"), Landmark(0.01, "0.01 %", "one in ten thousand")),
        slips=(
            Slip("All move in the optimizer's copy. Most stay on the same number of the grid.", value=100.0),
            Slip("Some come to a border in every step: a step is about a hundredth of the grid's spacing.", value=0.01),
        ),
        derivation="A weight changes when its step crosses a border of the grid: with probability 0.000001 / 0.00012, "
        "about 1 percent, near 0.02, and more often where weights are smaller and the grid is finer: 4 percent in all.",
    ),
    Choice(
        id="14-first-setting",
        kind="design",
        title="A first setting",
        section="14.30",
        bonus=True,
        options=(
            "Colocated and in turn, in a library that trains the hub's models as they are",
            "Two pools of 4, one step ahead: asynchronous is faster",
            "Megatron with pipeline parallelism, to be ready for larger models",
            "Two pools, and only what changed is sent",
        ),
        correct=0,
        derivation="On one node memory is short and answers are short: all GPUs take both turns, weights travel by a "
        "handle, and no answer is stale. What is simple can be replaced when a measurement says so.",
        slips={
            1: "With short answers and 8 GPUs, two pools gain little (14.27), and answers are stale.",
            2: "8B needs no pipeline, and its weights would have to be converted in every update.",
            3: "That is for slow links. Inside a node weights take milliseconds.",
        },
    ),
)
