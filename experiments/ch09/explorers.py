"""The explorer of chapter 9 that compares the cache with the weights. Standard library only; browsers run it."""

from __future__ import annotations

from rankzero.charts import Axis, Spec, chart, stacks
from rankzero.facts.units import GB, format_bytes

from .kv_shapes import PUBLISHED, SHAPES

#: Sizes of a tensor-parallel group.
RANKS = (1, 2, 4, 8, 16)

#: Bytes of a weight.
BF16 = 2


def cache_and_weights(
    model: str = "Llama 3 70B",
    kv_heads: str = PUBLISHED,
    kv_bytes: float = 2.0,
    context: int = 32_768,
    requests: int = 8,
) -> Spec:
    """Weights and cache on each GPU, for groups of 1 to 16 GPUs. Groups that cannot divide the heads are left out.

    Args:
        model: a key of ``SHAPES``.
        kv_heads: one of ``WAYS``.
        kv_bytes: of an element: 2, 1 or 0.5.
        context: tokens of a request.
        requests: at the same time.
    """
    shape, rows = SHAPES[model], []
    for ranks in RANKS:
        try:
            token = shape.bytes_per_token(kv_heads, kv_bytes, ranks)
        except ValueError:
            continue
        sizes = {"weights": BF16 * shape.parameters / ranks, "keys and values": requests * context * token}
        rows += [{"tp": str(ranks), "what": what, "GB": size / GB} for what, size in sizes.items()]
    token = shape.bytes_per_token(kv_heads, kv_bytes)
    whole, weights = requests * context * token, BF16 * shape.parameters
    share = f"{whole / weights:.2g} of the weights"
    title = f"{format_bytes(token, binary=True)} a token, {format_bytes(whole)} of cache, {share}"
    x, y = Axis("tp", "GPUs that share the layers", category=True), Axis("GB", "GB on each GPU")
    view = stacks(rows, x, y, by="what", title=title, mark=80.0)
    return chart(view, f"{model}, {requests} requests of {context:,} tokens: {title}; the rule is at 80 GB.")
