"""What a transformer layer stores for its backward pass, and what it sends under tensor parallelism.

Standard library only. A layer works on a micro-batch of ``batch`` sequences of ``sequence`` tokens.

>>> from rankzero.facts.units import GB, MB
>>> round(96 * activation_bytes(2048, 1, 12_288, 96) / GB, 3)
275.415
>>> round(tensor_parallel_traffic(4096, 1, 8192, ranks=8) / MB, 3)
469.762
"""

from __future__ import annotations

from rankzero import checks

#: What :func:`activation_bytes` knows.
RECOMPUTE = ("none", "selective", "full")
ATTENTION = ("materialised", "flash")


def activation_bytes(
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


def tensor_parallel_traffic(
    sequence: int,
    batch: int,
    hidden: int,
    ranks: int,
    element_bytes: float = 2,
    backward: bool = True,
    sequence_parallel: bool = False,
) -> float:
    """Bytes that one rank sends for one transformer layer and one micro-batch under tensor parallelism.

    Two all-reduces forward (attention and MLP) and two backward, each of a whole activation tensor of
    ``sequence * batch * hidden`` elements, ring-optimal. With ``sequence_parallel`` each all-reduce becomes an
    all-gather and a reduce-scatter of the same bytes together; the two split inputs, of which only slices were stored,
    are gathered once more in the backward pass.

    Args:
        sequence: tokens in a sequence; not negative.
        batch: sequences in the micro-batch; not negative.
        hidden: width of the model; at least 1.
        ranks: tensor-parallel ranks; at least 1 (one rank sends nothing).
        element_bytes: bytes of an element; finite, not negative. 2 is bf16.
        backward: count the backward pass too.
        sequence_parallel: norms and residuals are split along the sequence.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3; Korthikanti et al. (2022), arXiv:2205.05198, section 4.
    """
    checks.count(0, sequence=sequence, batch=batch)
    checks.count(hidden=hidden, ranks=ranks)
    checks.amount(element_bytes=element_bytes)
    shares = 4 + (4 + (2 if sequence_parallel else 0) if backward else 0)
    return float(shares * (ranks - 1) / ranks * sequence * batch * hidden * element_bytes)


def best_segment(layers: int, layer_bytes: float, checkpoint_bytes: float) -> tuple[int, float]:
    """How many layers to put between two checkpoints so that the peak of activations is least.

    With a checkpoint every k layers, all ``ceil(layers / k)`` inputs of segments are kept, and while the backward pass
    runs through a segment, the activations of its k layers live too.

    Args:
        layers: of the model; at least 1.
        layer_bytes: what one layer stores when it is not recomputed; finite, not negative.
        checkpoint_bytes: the input of a layer; finite, not negative.

    Returns:
        ``(k, peak)``: layers of a segment, from 1 to ``layers``, the fewest of several that are equally good; and
        the peak, bytes.

    Source: Chen et al. (2016), arXiv:1604.06174.
    """
    checks.count(layers=layers)
    checks.amount(layer_bytes=layer_bytes, checkpoint_bytes=checkpoint_bytes)
    peaks = ((-(-layers // k) * checkpoint_bytes + k * layer_bytes, k) for k in range(1, layers + 1))
    peak, segment = min(peaks)
    return segment, float(peak)


def padded_vocabulary(vocab: int, ranks: int, multiple: int = 128) -> int:
    """The least multiple of ``multiple * ranks`` that holds ``vocab`` tokens: every rank gets whole blocks of rows.

    Args:
        vocab: tokens of the tokenizer; at least 1.
        ranks: tensor-parallel ranks; at least 1.
        multiple: rows of a block on one rank; at least 1. 128 suits matrix units.

    Source: NVIDIA Megatron-LM, ``--make-vocab-size-divisible-by``.
    """
    checks.count(vocab=vocab, ranks=ranks, multiple=multiple)
    block = multiple * ranks
    return -(-vocab // block) * block


def debug_traffic(sequence: int, batch: int, hidden: int, ranks: int) -> float:
    """Bytes that one rank sends for one layer in a step under tensor parallelism, with activations in bf16.

    Four all-reduces, each of the whole activation tensor, ring-optimal.

    Args:
        sequence: tokens in a sequence; not negative.
        batch: sequences in the micro-batch; not negative.
        hidden: width of the model; at least 1.
        ranks: tensor-parallel ranks; at least 1.
    """
    checks.count(0, sequence=sequence, batch=batch)
    checks.count(hidden=hidden, ranks=ranks)
    tensor = 2 * sequence * batch * hidden
    return 4 * 2 * (ranks - 1) / ranks * tensor
