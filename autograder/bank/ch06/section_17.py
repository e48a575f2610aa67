"""Section 6.17, Sequence parallelism, built: its questions."""

from __future__ import annotations

from autograder.bank.ch06.quantities import step_bytes
from autograder.items import Part, Question, Slip
from rankzero.facts.units import GB

QUESTIONS = (
    Question(
        id="06-sp-traffic",
        kind="derive",
        title="Sequence parallelism sends more",
        section="6.17",
        bonus=True,
        parts=(
            Part(
                "whole step",
                "GB",
                lambda: step_bytes(sequence_parallel=True) / GB,
                slips=(
                    Slip(
                        "Only the forward pass sends as much as before: slices are gathered again in the backward one.",
                        value=lambda: step_bytes() / GB,
                    ),
                    Slip(
                        "An all-gather and a reduce-scatter together are one all-reduce.",
                        value=lambda: 2 * step_bytes() / GB,
                    ),
                ),
            ),
            Part(
                "more than without",
                "%",
                lambda: 100 * (step_bytes(sequence_parallel=True) / step_bytes() - 1),
                slips=(
                    Slip("Only the forward pass sends as much as before.", value=0),
                    Slip("An all-gather and a reduce-scatter together are one all-reduce.", value=100),
                ),
            ),
        ),
        derivation="$10\\,\\frac{t-1}{t} M$ for a layer instead of $8\\,\\frac{t-1}{t} M$: each of its two split "
        "inputs is kept as a slice and gathered once more in the backward pass. 80 layers, $M = 2 s b h$ with $s = "
        "4096$, $b = 1$, $h = 8192$, and $t = 8$.",
    ),
)
