"""What several questions of chapter 9 compute with."""

from __future__ import annotations

from autograder.items import lazily
from rankzero.facts.models import Model

kv = lazily("solutions.ch09.kv_cache")


def per_token(model: Model, width: float = 2.0) -> float:
    """Bytes of keys and values of a token."""
    return kv.kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim, width)
