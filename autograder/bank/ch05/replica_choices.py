"""Chapter 5: what happens to replicas, buckets and micro-batches, and why: questions whose options are reasons."""

from __future__ import annotations

from autograder.items import Choice

NO_BROADCAST = Choice(
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
    derivation="After the all-reduce every rank has the same gradient, and so the same momentum. The optimizer adds "
    "the same number to the weights $w_r$ of every rank $r$, and the difference $w_r - w_0$ never changes. Each rank "
    "is trained with gradients that were computed for other weights, and the model that you save depends on the rank "
    "that saves it. This is why DDP broadcasts the weights of rank 0 when it is constructed.",
    slips={
        1: "The same step from different places leads to different places. An equal gradient closes no gap.",
        2: "Only gradients are averaged, never weights: nothing in the loop sees how far apart the weights are.",
        3: "The all-reduce sees gradients of the right shape and adds them up. It cannot know what they belong to.",
    },
)

SAME_TRAINING = Choice(
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
    derivation="The gradient of a mean is the mean of the gradients, and a mean over eight rows is the mean of four "
    "means over two rows each. So the averaged gradient *is* that of the batch. What differs is the order in which "
    "floating-point numbers are added.",
    slips={
        1: "A sum of floats depends on the order of addition, and four ranks add in another order than one process.",
        2: "A derivative is linear: the average of the ranks' gradients is exactly the gradient of the joined batch.",
        3: "The sum of the four gradients is divided by four, so the step is as long as in one process.",
    },
)

FIRST_BUCKET = Choice(
    id="05-first-bucket",
    kind="trace",
    title="How many all-reduces",
    section="5.2",
    options=(
        "1, then 3: in its first pass DDP does not know the order of the gradients, and waits for all of them",
        "3, then 3: a bucket of 1 MiB, one of 25 MiB, and a last one of 14 MiB, from the first pass on",
        "40, then 3: the first pass sends each layer alone and measures it, and the second uses buckets",
        "2, then 2: 40 MiB of gradients take one full bucket of 25 MiB and one of 15 MiB",
    ),
    correct=0,
    derivation="DDP fills its buckets in the order in which gradients arrive. That order is known only after a "
    "backward pass has shown it; until then all gradients wait in a single bucket. Then DDP makes buckets in the order "
    "that it saw: the first one closes at 1 MiB, so that something starts early, the others at 25 MiB, and what is "
    "left makes the last.",
    slips={
        1: "These are the buckets from the second pass on. To fill them, DDP has to know which gradients come first.",
        2: "DDP never sends layers one by one. While it does not know the order, it keeps everything together.",
        3: "The first bucket closes at 1 MiB, not at 25. And the first pass has a single bucket.",
    },
)

SYNC_EVERY = Choice(
    id="05-sync-every",
    kind="trace",
    title="Reduced four times",
    section="5.4",
    options=(
        "the same: averaging what is already equal on all ranks does not change it",
        "too small: the first micro-batch is divided by the number of ranks in every pass",
        "too large: the first micro-batch is added up over the ranks once more in every pass",
        "different on every rank: later micro-batches are added to it after the reduction",
    ),
    correct=0,
    derivation="After the first pass every rank holds the average $G$ of the first micro-batches. In the second pass "
    "rank $r$ adds its own $g_r$, and the reduction averages $G + g_r$ over the ranks. The average of $G$ is $G$. So "
    "the gradient is right, and all reductions but the last were paid for nothing.",
    slips={
        1: "It is divided by the number of ranks after it has been added up over the ranks: equal numbers stay.",
        2: "DDP averages: it adds up and divides. The average of equal numbers is that number.",
        3: "The last reduction comes after the last micro-batch, so all ranks end with the same average.",
    },
)
