"""The cost of verification in large batches, and the batch at which speculation stops paying off. Standard library
only.

>>> verification_cost(1, 4, 295.0)
1.0
"""

from __future__ import annotations

from rankzero import checks

from .speculative import expected_tokens, speculative_speedup


def verification_cost(batch: float, draft_length: int, critical_batch: float) -> float:
    """Time of a target pass over k + 1 positions of each sequence, over that of a plain one: v.

    A pass takes the time to read the weights, or that of its matrix products where they take longer: above
    ``critical_batch`` positions in the pass.

    Args:
        batch: sequences; positive.
        draft_length: k, drafted tokens of each sequence; an integer >= 0.
        critical_batch: positions in one pass at which both times are equal; positive.
    """
    checks.positive(batch=batch, critical_batch=critical_batch)
    checks.count(0, draft_length=draft_length)
    return max(1.0, batch * (draft_length + 1) / critical_batch) / max(1.0, batch / critical_batch)


def batched_speedup(
    acceptance: float, draft_length: int, draft_cost: float, batch: float, critical_batch: float
) -> float:
    """Speed-up of speculation with ``batch`` sequences at once; the draft stays bound by its own weights."""
    cost = verification_cost(batch, draft_length, critical_batch)
    return speculative_speedup(acceptance, draft_length, draft_cost, cost)


def break_even_batch(acceptance: float, draft_length: int, draft_cost: float, critical_batch: float) -> float:
    """The batch at which speculation neither helps nor hurts; at most ``critical_batch``.

    There ``v = expected_tokens - k c``, and v is ``batch (k + 1) / critical_batch``.

    Raises:
        ValueError: v is below 1, so that speculation helps at no batch.
    """
    worth = expected_tokens(acceptance, draft_length) - draft_length * draft_cost
    checks.require(worth >= 1, "gain at some batch", acceptance=acceptance, draft_cost=draft_cost)
    return worth * critical_batch / (draft_length + 1)


def best_batched(
    acceptance: float, draft_cost: float, batch: float, critical_batch: float, max_length: int = 8
) -> tuple[int, float]:
    """The draft length from 0 to ``max_length`` that is fastest at this batch, and its speed-up."""
    lengths = range(max_length + 1)
    best = max(lengths, key=lambda k: batched_speedup(acceptance, k, draft_cost, batch, critical_batch))
    return best, batched_speedup(acceptance, best, draft_cost, batch, critical_batch)
