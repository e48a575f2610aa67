"""What a transformer layer stores for its backward pass. Standard library only.

>>> from rankzero.facts.models import GPT3_175B
>>> from rankzero.facts.units import GB
>>> round(96 * activation_bytes(GPT3_175B, 2048) / GB, 3)
275.415
"""

from __future__ import annotations

from rankzero import checks
from rankzero.facts.models import Model

#: What :func:`activation_bytes` may compute again.
RECOMPUTE = ("none", "selective", "full")


def activation_bytes(
    model: Model, sequence: int, ranks: int = 1, sequence_parallel: bool = False, recompute: str = "none"
) -> float:
    """Bytes that autograd keeps on one rank for one layer and one sequence, in bf16.

    A layer without a gate is classic, like GPT-3's: it keeps two dropout masks, one byte per number, outside the split
    matrices, and 5 bytes for each head and pair of tokens. A gated layer is like Llama's: no dropout, and flash
    attention. Statistics of norms and of flash attention are neglected.

    Args:
        model: ``hidden``, ``heads``, ``kv_heads``, ``head_dim``, ``ffn`` and ``gated`` count.
        sequence: tokens of the sequence; not negative.
        ranks: tensor-parallel ranks; at least 1. Real division: a share need not be whole, and key-value heads
            are not copied.
        sequence_parallel: the tokens are split outside the matrices too.
        recompute: ``"none"``; ``"selective"`` drops the attention matrix; ``"full"`` keeps nothing but the layer's
            input, split like the inputs of the norms.

    Source: Korthikanti et al. (2022), arXiv:2205.05198, section 4 and table 2.
    """
    checks.count(0, sequence=sequence)
    checks.count(ranks=ranks)
    checks.one_of(RECOMPUTE, recompute=recompute)
    outside = ranks if sequence_parallel else 1
    if recompute == "full":
        return 2 * sequence * model.hidden / outside
    queries, keys = model.heads * model.head_dim, model.kv_heads * model.head_dim
    around = (8 if model.gated else 10) * model.hidden
    between = 2 * (2 * queries + 2 * keys + (4 if model.gated else 2) * model.ffn)
    matrix = 0 if model.gated or recompute == "selective" else 5 * model.heads * sequence
    return sequence * (around / outside + (between + matrix) / ranks)
