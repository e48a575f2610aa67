# Generated from solutions/ch06/heads.py by make stubs. Write the bodies; names and signatures stay.
"""Which rank of a tensor-parallel group holds which attention heads. Standard library only.

>>> head_partition(heads=64, kv_heads=8, ranks=16, rank=3)
(range(12, 16), range(1, 2), 2)
"""

from __future__ import annotations

from rankzero import checks


def head_partition(heads: int, kv_heads: int, ranks: int, rank: int) -> tuple[range, range, int]:
    """The query and key-value heads of one rank, and how many ranks hold each of those key-value heads.

    Query heads go to the ranks in blocks of ``heads / ranks``. So do key-value heads if the ranks divide them; if they
    divide the ranks instead, each one is copied to ``ranks / kv_heads`` neighboring ranks. Query head q reads
    key-value head ``q // (heads / kv_heads)``, so a rank holds exactly what its own query heads read.

    Args:
        heads: query heads of the layer; at least 1.
        kv_heads: key-value heads; at least 1, a divisor of ``heads``: as many as ``heads`` in plain multi-head
            attention, 1 in multi-query attention.
        ranks: tensor-parallel ranks; at least 1.
        rank: the one that is asked about, from 0 to ``ranks - 1``.

    Returns:
        ``(query, key_value, replicas)``; ``replicas`` is 1 if only one rank holds a key-value head.

    Raises:
        ValueError: the heads cannot be split: ``ranks`` does not divide ``heads``, or is neither a divisor nor a
            multiple of ``kv_heads``. The message names both numbers.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3; Ainslie et al. (2023), arXiv:2305.13245.
    """
    checks.count(heads=heads, kv_heads=kv_heads, ranks=ranks)
    checks.count(0, ranks - 1, rank=rank)
    checks.require(heads % kv_heads == 0, f"divide heads = {heads}", kv_heads=kv_heads)
    raise NotImplementedError("06-head-partition: not written yet")


def debug_qkv(hidden: int, ranks: int, rank: int) -> list[int]:
    """The rows of a fused query-key-value weight ``[3 hidden, hidden]`` that one rank keeps, ascending.

    All queries come first, then all keys, then all values. A rank keeps its block of each of the three.

    Args:
        hidden: width of the model; at least 1.
        ranks: tensor-parallel ranks; at least 1, a divisor of ``hidden``.
        rank: the one that is asked about, from 0 to ``ranks - 1``.
    """
    checks.count(hidden=hidden, ranks=ranks)
    checks.count(0, ranks - 1, rank=rank)
    checks.require(hidden % ranks == 0, f"divide hidden = {hidden}", ranks=ranks)
    return list(range(rank * 3 * hidden // ranks, (rank + 1) * 3 * hidden // ranks))
