"""Section 6.3, Column, then row: the MLP: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="06-row-first",
        kind="trace",
        title="Rows first, then columns",
        section="6.3",
        options=(
            "It needs another all-reduce, of the wide inner activations, before the nonlinearity.",
            "It works the same: the two layers swap roles, and f and g swap places with them.",
            "It works, but needs an all-gather at the end, because the last layer gives slices.",
            "It works for ReLU, which is linear on each side of zero, and fails only for GELU.",
        ),
        correct=0,
        derivation="Cut by rows, the first layer gives partial sums, and a nonlinearity has to see the finished sum: "
        "$\\mathrm{ReLU}(2 - 4) \\ne \\mathrm{ReLU}(2) + \\mathrm{ReLU}(-4)$. So an all-reduce would be needed in the "
        "middle, where the activations are wide (in GPT-3 four times as wide as at the ends). The slices at the end "
        "would have to be gathered as well.",
        slips={
            1: "There is a nonlinearity between the layers. It can act on a slice, but not on a summand.",
            2: "The slices at the end do need an all-gather, but what goes wrong comes first, at the nonlinearity.",
            3: "The summands 2 and -4 are on different sides of zero: ReLU of the sum is 0, the sum of the ReLUs is 2.",
        },
    ),
)
