"""Published models: shapes from their sources, and what follows from a shape."""

from __future__ import annotations

from rankzero.facts.models import MODELS, Model
from rankzero.facts.units import GB, KiB, billion
from solutions.ch09.kv_cache import kv_bytes_per_token

from .markup import sources, table

_BF16 = 2  # bytes


def _shape(model: Model) -> tuple[str, ...]:
    heads = f"{model.heads} / {model.kv_heads}"
    mixture = f"{model.experts} routed, {model.top_k} active" if model.experts else "–"
    width = model.expert_ffn or model.ffn
    sizes = (model.layers, model.hidden, model.head_dim, width, model.vocab)
    layers, hidden, head_dim, ffn, vocab = (f"{size:,}" for size in sizes)
    return model.name, layers, hidden, heads, head_dim, ffn, vocab, mixture


def _computed(model: Model) -> tuple[str, ...]:
    cache = kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim, _BF16)
    return (
        model.name,
        f"{model.parameters / billion:.5g}",
        f"{model.active_parameters / billion:.5g}",
        f"{model.parameters * _BF16 / GB:.5g}",
        f"{cache / KiB:.5g}",
    )


def text() -> str:
    """The page's generated part."""
    head = ("model", "layers", "hidden", "heads / KV heads", "head size", "feed-forward", "vocabulary", "experts")
    shapes = table(head, map(_shape, MODELS)) + "\n" + sources(MODELS)
    counts = (
        "model",
        "parameters, billions",
        "used per token, billions",
        "bf16 weights, GB",
        "KV cache per token, KiB",
    )
    return f"## Shapes\n\n{shapes}\n## What follows from them\n\n{table(counts, map(_computed, MODELS))}"
