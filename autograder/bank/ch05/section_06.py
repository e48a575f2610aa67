"""Section 5.6, ZeRO: own a slice, borrow the rest: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
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
        derivation="A ring's all-reduce is a reduce-scatter of the gradients and an all-gather of their sums. "
        "Stages 1 and 2 keep the reduce-scatter, update between the two halves, and gather the new *weights* instead "
        "of the sums, which are as many bytes. Stage 3 frees the gathered weights after the forward "
        "pass and gathers them again for the backward pass: three halves of an all-reduce instead of two.",
        slips={
            1: "A rank keeps a third of the states, but it computes a gradient for every weight and needs every "
            "weight.",
            2: "Gradients have to be added up in any case, and optimizer states never leave their rank.",
            3: "Nobody needs another rank's optimizer states. A rank updates its own weights and sends those.",
        },
    ),
)
