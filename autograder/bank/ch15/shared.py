"""What several exercises of the capstone share."""

from __future__ import annotations

from random import Random

from rankzero.facts.models import Model
from rankzero.facts.plans import RunLayout


def log(rng: Random, low: float, high: float) -> float:
    return float(f"{low * (high / low) ** rng.random():.6g}")


RECOMPUTE = ("none", "cheap", "full")
SHARDS = ("optimizer", "optimizer+gradients", "all")


def laid_out(tp: int, cp: int, pp: int, dp: int, microbatches: int, tokens: int, chunks: int = 1) -> RunLayout:
    """A layout whose micro-batches are one sequence each."""
    return RunLayout(tp, cp, pp, dp, microbatches, tokens, tokens, chunks)


def llama(rng: Random, layers: int) -> Model:
    """A shape with grouped queries, and heads together not as wide as the hidden state."""
    kv_heads, head_dim = rng.choice((2, 4, 8)), rng.choice((64, 128))
    heads = kv_heads * rng.choice((2, 4, 8))
    hidden = heads * head_dim + 64 * rng.randint(1, 9)
    return Model(
        f"{layers} layers", layers, hidden, heads, kv_heads, head_dim, 3 * hidden + 64, rng.randint(1, 90) * 1000
    )
