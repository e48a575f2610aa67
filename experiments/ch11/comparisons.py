"""Chapter 11's speed-up beside published ones. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B
from solutions.ch08.serving import pass_time
from solutions.ch09.kv_cache import kv_bytes_per_token
from solutions.ch11.speculative import speculative_speedup

from ..comparison import Compared, Comparison
from . import published

#: Cached tokens of a request in the measurement with batches, as the page assumes.
CONTEXT = 400


def verify_cost(batch: int, length: int) -> float:
    """A pass that checks ``length`` guesses of each sequence over a plain pass."""
    n, contexts = LLAMA3_8B.parameters, [CONTEXT] * batch
    token = kv_bytes_per_token(LLAMA3_8B.layers, LLAMA3_8B.kv_heads, LLAMA3_8B.head_dim)
    rest = (n, 2 * n, token, H100_SXM.peak_bf16, H100_SXM.memory_bandwidth)
    return pass_time(batch * (length + 1), contexts, *rest) / pass_time(batch, contexts, *rest)


def assumed(batch: int) -> float:
    """The speed-up with the acceptance and the cost that the page assumes."""
    length = published.EAGLE_LENGTH
    return speculative_speedup(published.ASSUMED_ALPHA, length, published.ASSUMED_COST, verify_cost(batch, length))


COMPARISONS = (
    Comparison(
        "11.5",
        "Speed-up of speculative decoding, one sequence",
        "ch11.speculative.speculative_speedup",
        "measured",
        published.LEVIATHAN_SOURCE,
        tuple(
            Compared(row.name, row.measured, speculative_speedup(row.alpha, row.length, row.cost), "x")
            for row in published.LEVIATHAN
        ),
        "Drafts are not accepted independently of each other, and the baseline was optimized otherwise.",
        "which draft and which length to try first, where the draft is small",
    ),
    Comparison(
        "11.6",
        "Speed-up of EAGLE-3 with three drafts, by batch",
        "ch11.speculative.speculative_speedup",
        "measured",
        published.EAGLE_SOURCE,
        tuple(
            Compared(f"batch {batch}", speedup, assumed(batch), "x") for batch, (speedup, _) in published.EAGLE.items()
        ),
        "A round costs more than drafts and check: the batch adds work that no term counts; acceptance is assumed.",
        "2 to 4 sequences, to a fifth; with more measure what a round takes",
    ),
)
