"""Section 15.12, Attention and long sequences: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import matrix_parameters, part
from autograder.items import Question, Slip, lazily
from rankzero.facts.models import LLAMA3_405B

flops = lazily("solutions.ch15.flops")


def attention_percent(sequence: int, causal: bool = True) -> float:
    """Attention's FLOP in percent of 6N, Llama 3.1 405B."""
    model, n = LLAMA3_405B, matrix_parameters()
    width = model.heads * model.head_dim
    return 100 * (flops.training_flops(n, [(1, sequence)], model.layers, width, causal) / (6 * n) - 1)


def _phases_flops(phases: list[tuple[float, int]], causal: bool = True) -> float:
    model = LLAMA3_405B
    return flops.training_flops(matrix_parameters(), phases, model.layers, model.heads * model.head_dim, causal)


def _longer_percent(causal: bool = True) -> float:
    mixed = _phases_flops([(15.6e12, 8192), (0.8e12, 131_072)], causal)
    return 100 * (mixed / _phases_flops([(16.4e12, 8192)], causal) - 1)


QUESTIONS = (
    Question(
        id="cap-attention-share",
        kind="derive",
        title="Attention beside 6N",
        section="15.12",
        bonus=True,
        parts=(
            part(
                "at 8,192",
                "%",
                lambda: attention_percent(8192),
                ("That is the full square: causal is half.", lambda: attention_percent(8192, causal=False)),
            ),
            part(
                "at 131,072",
                "%",
                lambda: attention_percent(131_072),
                ("That is the full square: causal is half.", lambda: attention_percent(131_072, causal=False)),
                (
                    "For one token, 16 times the length means 16 times the attention, not 256 times.",
                    lambda: 256 * attention_percent(8192),
                ),
            ),
        ),
        derivation="Per token $6 L w s$ against $6N$, so $L w s / N$, with $L = 126$, $w = 128 \\cdot 128$ and $N$ the "
        "matrix parameters, 404e9.",
    ),
    Question(
        id="cap-long-context",
        kind="derive",
        title="What the long sequences cost at most",
        section="15.12",
        bonus=True,
        ask="more FLOP, at most",
        unit="%",
        answer=_longer_percent,
        slips=(
            Slip(
                "That compares a long token with a short one, but few tokens are long.",
                value=lambda: 100 * (_phases_flops([(1, 131_072)]) / _phases_flops([(1, 8192)]) - 1),
            ),
            Slip("Attention grows with the sequence: tokens in long sequences cost more.", value=0.0),
            Slip("That is the full square: causal is half.", value=lambda: _longer_percent(causal=False)),
        ),
        derivation="The bound takes all of the 0.8e12 tokens in the longest sequences. Sum $D\\,(6N + 6 L w s)$ over "
        "the phases, 15.6e12 tokens at 8,192 and 0.8e12 at 131,072, and divide by the same with all 16.4e12 tokens at "
        "8,192; $L = 126$, $w = 16384$, $N = 4.04 \\times 10^{11}$.",
    ),
)
