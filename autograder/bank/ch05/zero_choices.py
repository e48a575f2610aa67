"""Chapter 5: what slices cost, and what 16 bits lose: questions whose options are reasons."""

from __future__ import annotations

from autograder.items import Choice

ZERO_COST = Choice(
    id="05-zero-cost",
    kind="design",
    title="The price of each stage",
    section="5.6",
    options=(
        "1, 1 and 1.5: the all-reduce contained the cut already, and only stage 3 has more to gather",
        "1/3, 1/3 and 1/2: each rank updates a third of the weights, so it sends a third of the bytes",
        "1.5, 2 and 2.5: every kind of state that is cut has to be gathered again in each step",
        "3.5, 3.5 and 4: the optimizer states, 12 bytes per weight, are gathered for the update",
    ),
    correct=0,
    derivation="An all-reduce is a reduce-scatter of the gradients followed by an all-gather of their sums. Stages 1 "
    "and 2 keep the reduce-scatter, update between the two halves, and gather the new *weights* instead of the sums: "
    "with 2 bytes for either, the same bytes. Stage 3 frees the gathered weights after the forward pass and gathers "
    "them again for the backward pass: three halves of an all-reduce instead of two.",
    slips={
        1: "A rank keeps a third of the states, but it computes a gradient for every weight and needs every weight.",
        2: "Gradients have to be added up in any case, and optimizer states never leave their rank.",
        3: "Nobody needs another rank's optimizer states. A rank updates its own weights and sends those.",
    },
)

FSDP_PEAK = Choice(
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
    derivation="The slices are always there. On top comes what has been gathered and not yet freed: with "
    "resharding after the forward pass that is the layer in use, complete, in a buffer of its own. So the largest "
    "layer decides how much room is needed: $17290 / 2 + 4810$. A model that is wrapped as a single unit is whole in "
    "the middle of every step.",
    slips={
        1: "A layer can only be applied when all of its weights are there.",
        2: "The layer is gathered into one piece of memory, so a second copy of rank 0's own half is in it.",
        3: "This is what happens without resharding. By default a layer is freed as soon as it has been applied.",
    },
)

BF16_STALL = Choice(
    id="05-bf16-stall",
    kind="trace",
    title="A thousand small steps",
    section="5.8",
    options=(
        "1.0: each sum lies nearer to 1.0 than to the next number, and is rounded back to it",
        "2.0: some sums are rounded up and others down, and over a thousand steps that evens out",
        "about 1.99: each addition loses a little, less than a percent of the update",
        "about 1.5: half of the additions are rounded away, and half count double",
    ),
    correct=0,
    derivation="With 7 binary digits after the point, the bf16 numbers after 1.0 lie $2^{-7} \\approx 0.0078$ apart. "
    "An update of 0.001 is less than half of that, so the sum is rounded back to 1.0, every time. In fp32 the numbers "
    "lie $2^{-23}$ apart, and the update counts.",
    slips={
        1: "Errors even out when they have both signs. Here all sums are equal, so all are rounded to the same side.",
        2: "The whole update is lost, not a part of it: between 1.0 and 1.0078 there is no number in bf16.",
        3: "Rounding is not by chance. The sum is the same in each step, and so is the number it is rounded to.",
    },
)
