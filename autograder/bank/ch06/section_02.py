"""Section 6.2, The conjugate pair f and g: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="06-missing-f",
        kind="trace",
        title="A column-parallel layer without f",
        section="6.2",
        options=(
            "The gradient of x: each rank holds only the contribution of its own columns.",
            "The output: each rank multiplies with its own columns and knows no others.",
            "The gradient of this layer's weights: each rank sees a fraction of the data.",
            "Nothing: the backward pass of a correct forward pass is correct by itself.",
        ),
        correct=0,
        derivation="A rank's slice of the output needs all of x and its own columns, and it has both. The gradient of "
        "its columns needs x and the gradient of its own slice, and it has these, too. But every slice depends on x, "
        "so the gradient of x is a sum over all ranks, and without $f$ each rank has one summand. The layers before "
        "this one then get an incomplete gradient, and usually a different one on every rank.",
        slips={
            1: "A slice is what a column-parallel layer is meant to produce, and every number in it is right.",
            2: "Every rank sees all tokens. What is split here is the weights, not the data.",
            3: "Autograd knows only what one process does. It cannot see that other ranks used the same x.",
        },
    ),
)
