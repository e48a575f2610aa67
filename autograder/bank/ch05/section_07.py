"""Section 5.7, fully_shard on real ranks: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="05-fsdp-peak",
        kind="trace",
        title="The peak of a step",
        section="5.7",
        options=(
            "13,455: its slices of all the layers, and the largest layer whole",
            "8,645: its slices of all the layers, and nothing else",
            "11,050: its slices, and the other half of the largest layer",
            "25,935: its slices, and all the layers whole, at the last one",
        ),
        correct=0,
        derivation="The slices are always there. On top comes what has been gathered and not yet freed. With "
        "resharding after the forward pass, and without prefetching, that is the layer in use, complete, in a buffer "
        "of its own. So the largest layer decides how much room is needed: $17290 / 2 + 4810$. A model that is a "
        "single unit is whole in the middle of every step.",
        slips={
            1: "A layer can only be applied when all of its weights are there.",
            2: "The layer is gathered into one piece of memory, so a second copy of rank 0's own half is in it.",
            3: "This is what happens without resharding. Here a layer is freed as soon as it has been applied.",
        },
    ),
    Choice(
        id="05-fsdp-tokens",
        kind="design",
        title="What hides a gather",
        section="5.7",
        options=(
            "twice as many tokens in each rank's micro-batch: the gather stays as it is, and the computation doubles",
            "units twice as large: half as many gathers, each with twice the computation to hide behind",
            "twice as many ranks: each holds half as much, so less has to be sent",
            "layers twice as wide: each token then costs four times the computation",
        ),
        correct=0,
        derivation="Gathering a weight takes the same time whatever is done with it. In the forward pass, the matrix "
        "product with it costs 2 FLOP per token. So for one link, GPU and number format, the ratio of the two times "
        "depends on the tokens of a rank's micro-batch only.",
        slips={
            1: "A unit twice as large has twice the weights to gather, too. Both times double.",
            2: "A rank receives all the slices that it does not own. With more ranks these are more, not fewer.",
            3: "A layer twice as wide has four times the weights, which have to be gathered. Both times grow alike.",
        },
    ),
)
