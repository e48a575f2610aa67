"""Section 15.11, Parameters from the shape: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import layer_parameters
from autograder.items import Question, Slip
from rankzero.facts.models import LLAMA3_405B

QUESTIONS = (
    Question(
        id="cap-params",
        kind="derive",
        title="All parameters of the 405B model",
        section="15.11",
        bonus=True,
        ask="parameters",
        unit="",
        answer=lambda: LLAMA3_405B.parameters,
        tolerance=0,
        slips=(
            Slip(
                "Four squares of h for attention: grouped queries have narrow keys and values.",
                value=lambda: LLAMA3_405B.parameters + 126 * 2 * 16_384 * 120 * 128,
            ),
            Slip("That is the name, which is rounded: the formula gives every digit.", value=405e9),
            Slip("The head is a matrix of its own.", value=lambda: LLAMA3_405B.parameters - 128_256 * 16_384),
            Slip("The norms have weights, too.", value=lambda: LLAMA3_405B.parameters - (2 * 126 + 1) * 16_384),
        ),
        derivation="$$L\\,(2hA + 2hK + 3hf + 2h) + 2Vh + h$$\n\nwith $L = 126$, $h = 16384$, $A = 128 \\cdot 128$, "
        "$K = 8 \\cdot 128$, $f = 53248$ and $V = 128256$: four matrices of attention, three of the feed-forward "
        "block, two norms; then embedding, head and last norm.",
    ),
    Question(
        id="cap-gqa-layer",
        kind="derive",
        title="One layer with grouped queries",
        section="15.11",
        bonus=True,
        ask="parameters",
        unit="",
        answer=layer_parameters,
        tolerance=0,
        slips=(
            Slip("Keys and values have 8 heads, not 128.", value=lambda: layer_parameters() + 2 * 16_384 * 120 * 128),
            Slip("Two norms have hidden weights each.", value=lambda: layer_parameters() - 2 * 16_384),
            Slip("A gated block has three matrices.", value=lambda: layer_parameters() - 16_384 * 53_248),
        ),
        derivation="$$2hA + 2hK + 3hf + 2h$$\n\nwith $h = 16384$, $A = 128 \\cdot 128$ for queries and output, "
        "$K = 8 \\cdot 128$ for keys and values, $f = 53248$ for gate, up and down, and two norms.",
    ),
)
