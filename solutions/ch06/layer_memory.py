"""What a transformer layer of any kind stores for its backward pass: the count of the whole course.

Standard library only. A layer works on a micro-batch of ``batch`` sequences of ``sequence`` tokens.

>>> from rankzero.facts.units import GB
>>> round(96 * stored_by_layer(2048, 1, 12_288, 96) / GB, 3)
275.415
"""

from __future__ import annotations

from rankzero import checks

#: What :func:`stored_by_layer` knows.
RECOMPUTE = ("none", "selective", "full")
ATTENTION = ("materialised", "flash")


def stored_by_layer(
    sequence: int,
    batch: int,
    hidden: int,
    heads: int,
    ffn: int | None = None,
    kv_heads: int | None = None,
    ranks: int = 1,
    sequence_parallel: bool = False,
    recompute: str = "none",
    attention: str = "materialised",
    gated: bool = False,
    dropout: bool = True,
    element_bytes: float = 2,
    mask_bytes: float = 1,
) -> float:
    """Bytes that autograd keeps on one rank for one transformer layer and one micro-batch.

    With e bytes per element and k per element of a dropout mask (0 without dropout), a token needs

    - around the split layers ``hidden (4e + 2k)``, whole on every rank or split along the sequence: inputs and outputs
      of the two norms, and two masks;
    - inside them, divided by the ranks: ``2e hidden`` for the queries and the input of the output projection;
      ``2e hidden kv_heads / heads`` for keys and values; ``2e ffn`` for input and output of the activation function,
      or ``4e ffn`` with a gate, which adds the other factor and the product.

    The attention matrix adds ``heads sequence^2 batch`` times e, or times ``2e + k`` with dropout, also divided by the
    ranks. Defaults give ``s b h (34 + 5 a s / h)``. The statistics of norms and of flash attention are neglected.

    Args:
        sequence: s, tokens in a sequence; not negative.
        batch: b, sequences in the micro-batch; not negative.
        hidden: h, width of the model; at least 1.
        heads: a, query heads; at least 1, a divisor of ``hidden``.
        ffn: inner width of the MLP; not negative. None is ``4 hidden``.
        kv_heads: key-value heads; at least 1, a divisor of ``heads``. None is as many as ``heads``.
        ranks: t, tensor-parallel ranks; at least 1. Real division: a share need not be whole.
        sequence_parallel: norms, masks and residuals are split along the sequence too.
        recompute: ``"none"``; ``"selective"`` drops the attention matrix; ``"full"`` keeps only the layer's input,
            split like the inputs of the norms (what lives while the layer runs again is not counted).
        attention: ``"materialised"``, or ``"flash"``, which never stores the matrix.
        gated: the MLP has a gate (SwiGLU).
        dropout: masks are kept, and the attention matrix once more after its dropout.
        element_bytes: e; finite, not negative. 2 is bf16.
        mask_bytes: k; finite, not negative. 1 on GPUs.

    Source: Korthikanti et al. (2022), arXiv:2205.05198, section 4 and table 2.
    """
    ffn = 4 * hidden if ffn is None else ffn
    kv_heads = heads if kv_heads is None else kv_heads
    checks.count(hidden=hidden, heads=heads, kv_heads=kv_heads, ranks=ranks)
    checks.count(0, sequence=sequence, batch=batch, ffn=ffn)
    checks.amount(element_bytes=element_bytes, mask_bytes=mask_bytes)
    checks.one_of(RECOMPUTE, recompute=recompute)
    checks.one_of(ATTENTION, attention=attention)
    checks.require(hidden % heads == 0, f"divide hidden = {hidden}", heads=heads)
    checks.require(heads % kv_heads == 0, f"divide heads = {heads}", kv_heads=kv_heads)
    tokens, e, k = sequence * batch, element_bytes, mask_bytes if dropout else 0
    around = ranks if sequence_parallel else 1
    if recompute == "full":
        return float(tokens * hidden * e / around)
    replicated = tokens * hidden * (4 * e + 2 * k)
    split = tokens * (hidden * (2 * e + 2 * e * kv_heads / heads) + ffn * e * (4 if gated else 2))
    stored = attention == "materialised" and recompute == "none"
    matrix = heads * sequence * tokens * (2 * e + k if dropout else e) if stored else 0
    return float(replicated / around + (split + matrix) / ranks)
