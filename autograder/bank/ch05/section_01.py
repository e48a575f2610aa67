"""Section 5.1, One loop, several replicas: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="05-no-broadcast",
        kind="trace",
        title="Four different beginnings",
        section="5.1",
        options=(
            "they keep their distances: every rank takes the same steps, each from its own starting point",
            "they are equal after the first step, since every rank applies the same averaged gradient",
            "they come closer step by step, because averaging the gradients pulls the weights together",
            "the all-reduce raises an error or hangs, because the ranks hold different weights",
        ),
        correct=0,
        derivation="After the all-reduce every rank has the same gradient, and so the same momentum. SGD without "
        "weight decay then adds the same numbers to the weights $w_r$ of every rank $r$, and, up to rounding, the "
        "difference $w_r - w_0$ never changes. Each rank is trained mostly with gradients that were computed for other "
        "weights, and the model that you save depends on the rank that saves it. This is why DDP by default broadcasts "
        "the weights of rank 0 when it is constructed.",
        slips={
            1: "The same step from different places leads to different places. An equal gradient closes no gap.",
            2: "Only gradients are averaged, never weights: nothing in the loop sees how far apart the weights are.",
            3: "The all-reduce sees gradients of the right shape and adds them up. It cannot know what they belong to.",
        },
    ),
    Choice(
        id="05-same-training",
        kind="trace",
        title="One process, and four",
        section="5.1",
        options=(
            "equal up to rounding: the mean of four means over two rows is the mean over the batch",
            "equal bit for bit: the same rows give the same gradients, wherever they are computed",
            "different: every rank sees other rows, and the average of four gradients is an approximation",
            "different: four ranks take four gradients in each step, and move four times as far",
        ),
        correct=0,
        derivation="The gradient of a mean is the mean of the gradients, and a mean over eight rows is the mean of "
        "four means over two rows each. So the averaged gradient *is* that of the batch. What differs is the order in "
        "which floating-point numbers are added.",
        slips={
            1: "A sum of floats depends on the order of addition, and four ranks add in another order than one "
            "process.",
            2: "A derivative is linear: with equally many rows on each rank, the average of the ranks' gradients is "
            "the gradient of the joined batch.",
            3: "The sum of the four gradients is divided by four, so the step is as long as in one process.",
        },
    ),
)
