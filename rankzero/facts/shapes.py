"""The shape of a model of one's own, from the numbers that are known of it. Standard library only.

>>> mine = shaped(34e9)
>>> mine.layers, mine.hidden, mine.ffn
(56, 7168, 21248)
>>> shaped(layers=80, hidden=8192).parameters  # the shape of Llama 3 70B
70553706496
"""

from __future__ import annotations

import math
from dataclasses import replace

from rankzero import checks
from rankzero.facts.models import Model

#: Of Llama 3 8B: Llama Team (2024), arXiv:2407.21783, table 3 (4,096 = 128 x 32), and the released configuration.
HEAD_DIM, KV_HEADS, VOCAB, FFN = 128, 8, 128_256, 3.5
#: The rule in words, for what prints a shape.
RULE = (
    f"sizes that are not given have Llama 3 8B's proportions: hidden = {HEAD_DIM} x layers, heads of {HEAD_DIM}, "
    f"{KV_HEADS} KV heads, vocabulary {VOCAB:,}; the feed-forward is as wide as the parameters ask for, "
    f"or {FFN:g} x hidden"
)
#: The fewest parameters from which a whole shape is guessed: smaller models are mostly embedding.
LEAST = 1e9
#: Layers by the rule are a multiple of this, so that 8 tensor-parallel GPUs hold whole heads.
STEP = 8


def shaped(
    parameters: float | None = None,
    *,
    layers: int | None = None,
    hidden: int | None = None,
    heads: int | None = None,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    ffn: int | None = None,
    vocab: int | None = None,
    experts: int | None = None,
    top_k: int | None = None,
    expert_ffn: int | None = None,
    name: str = "this model",
) -> Model:
    """A decoder-only transformer of these sizes; those that are not given follow :data:`RULE`.

    Its feed-forward blocks are gated, embedding and head are two matrices, and nothing has a bias. With ``experts``
    every layer is a mixture, and without ``expert_ffn`` or ``parameters`` the experts that a token visits are together
    as wide as the block of a dense model.

    With ``layers`` and ``hidden`` the shape is known, and ``parameters`` is needed only for a feed-forward whose width
    is not: it becomes the multiple of 8 with which the count comes closest. From ``parameters`` alone the layers are
    the multiple of 8 with which that width, all experts of a token together, is closest to 3.5 times ``hidden``.

    Args:
        parameters: of the whole model; positive, and at least 1e9 without layers and hidden.
        layers, hidden: at least 1; both or neither.
        heads: query heads; at least 1.
        kv_heads: a divisor of ``heads``; by default 8, or the largest divisor of 8 that divides ``heads``.
        head_dim: at least 1; by default ``hidden / heads``, or 128 if there are no heads either.
        ffn: width of a dense block; at least 1.
        vocab: at least 1.
        experts: routed experts of a layer; at least 1.
        top_k: experts of one token, from 1 to ``experts``; by default 2, as in Mixtral, or 1 of 1.
        expert_ffn: width of one expert; at least 1.
        name: of the model.

    Raises:
        ValueError: a number contradicts another or leaves the shape open; the message begins with the argument.
    """
    sizes = {"heads": heads, "kv_heads": kv_heads, "head_dim": head_dim, "ffn": ffn, "expert_ffn": expert_ffn}
    given = {key: size for key, size in sizes.items() if size is not None}
    counts = {"layers": layers, "hidden": hidden, "vocab": vocab, "experts": experts, "top_k": top_k, **given}
    checks.count(**{key: size for key, size in counts.items() if size is not None})
    _check_mixture(experts, top_k, ffn, expert_ffn)
    visited = (top_k or min(2, experts)) if experts else 0
    blank = Model(name, 0, 0, 0, 0, 0, 0, vocab or VOCAB, source=RULE, experts=experts or 0, top_k=visited)
    if parameters is not None:
        checks.positive(parameters=parameters)
    if layers is None or hidden is None:
        for key, size in {"layers": layers, "hidden": hidden, **given}.items():
            other = {"layers": "hidden", "hidden": "layers"}.get(key, "layers and hidden")
            checks.require(size is None, f"come with {other}", **{key: size})
        checks.require(parameters is not None, "be given, or layers and hidden", parameters=parameters)
        return _guessed(blank, parameters or 0)
    body = _body(blank, layers, hidden, heads, kv_heads, head_dim)
    width = expert_ffn if experts else ffn
    if parameters is None:
        return _widened(body, width or _eights(FFN * hidden / max(1, visited)))
    if width is None:
        return _filled(body, parameters)
    whole = _widened(body, width)
    rule = f"be left out where all sizes are given, which make {whole.parameters:,}"
    checks.require(parameters == whole.parameters, rule, parameters=parameters)
    return whole


def _check_mixture(experts: int | None, top_k: int | None, ffn: int | None, expert_ffn: int | None) -> None:
    """A mixture has experts, and a dense model has none of what belongs to them."""
    if experts is None:
        checks.require(top_k is None, "come with experts", top_k=top_k)
        checks.require(expert_ffn is None, "come with experts", expert_ffn=expert_ffn)
        return
    checks.require(ffn is None, "be left out with experts, whose width is expert_ffn", ffn=ffn)
    checks.require(top_k is None or top_k <= experts, f"be at most experts = {experts}", top_k=top_k)


def _body(
    blank: Model,
    layers: int,
    hidden: int,
    heads: int | None = None,
    kv_heads: int | None = None,
    head_dim: int | None = None,
) -> Model:
    """The model without its feed-forward blocks."""
    if heads is None:
        head_dim = head_dim or HEAD_DIM
        checks.require(hidden % head_dim == 0, f"be a multiple of head_dim = {head_dim} without heads", hidden=hidden)
        heads = hidden // head_dim
    elif head_dim is None:
        checks.require(hidden % heads == 0, f"divide hidden = {hidden} without head_dim", heads=heads)
        head_dim = hidden // heads
    kv_heads = kv_heads or math.gcd(KV_HEADS, heads)
    checks.require(heads % kv_heads == 0, f"divide heads = {heads}", kv_heads=kv_heads)
    sizes = {"layers": layers, "hidden": hidden, "heads": heads, "kv_heads": kv_heads, "head_dim": head_dim}
    return replace(blank, **sizes, moe_layers=layers if blank.experts else 0)


def _widened(body: Model, width: int) -> Model:
    """The model with feed-forward blocks, or experts, of this width."""
    return replace(body, ffn=width, expert_ffn=width if body.experts else 0)


def _width(body: Model, parameters: float) -> float:
    """The width with which a body has exactly these parameters; not positive if it has as many without."""
    return (parameters - body.parameters) / (_widened(body, 1).parameters - body.parameters)


def _filled(body: Model, parameters: float) -> Model:
    """The model whose width, a multiple of 8, brings it closest to the count."""
    least = _widened(body, 8).parameters
    checks.require(parameters >= least, f"be at least {least:,} with these sizes", parameters=parameters)
    return _widened(body, _eights(_width(body, parameters)))


def _guessed(blank: Model, parameters: float) -> Model:
    """The model whose width is closest to the rule's, among those whose hidden size is 128 times their layers."""
    body = _body(blank, STEP, HEAD_DIM * STEP)
    least = max(LEAST, _widened(body, 8).parameters)
    checks.require(
        parameters >= least, f"be at least {least:,.0f}, or come with layers and hidden", parameters=parameters
    )
    found: dict[float, Model] = {}
    while _widened(body, 8).parameters <= parameters:
        found[abs(math.log(max(1, body.top_k) * _width(body, parameters) / (FFN * body.hidden)))] = body
        body = _body(blank, body.layers + STEP, body.hidden + HEAD_DIM * STEP)
    return _filled(found[min(found)], parameters)


def _eights(width: float) -> int:
    """The nearest multiple of 8, at least 8."""
    return max(8, 8 * round(width / 8))
