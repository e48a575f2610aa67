"""Which samples a rank visits: the split of a data set over data-parallel ranks. Standard library only.

>>> [shard_indices(10, ranks=4, rank=rank) for rank in range(4)]
[[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


def shard_indices(
    samples: int, ranks: int, rank: int, order: Sequence[int] | None = None, drop_last: bool = False
) -> list[int]:
    """The samples that one rank visits in one epoch, in the order of its visits.

    Every rank visits the same number of samples. The order is extended from its start until its length is a multiple of
    the ranks, or truncated with ``drop_last``; then the rank takes the positions ``rank``, ``rank + ranks``,
    ``rank + 2 * ranks`` and so on.

    Args:
        samples: size of the data set; not negative. With fewer samples than ranks the order is repeated more than once.
        ranks: how many ranks share the data; at least 1.
        rank: the one whose samples are returned, from 0 to ``ranks - 1``.
        order: the epoch's order, with every sample once, the same on every rank; None is 0, 1, 2 and so on.
        drop_last: drop the remainder at the end instead of repeating samples.

    Returns:
        ``ceil(samples / ranks)`` samples, or ``floor(samples / ranks)`` with ``drop_last``.

    Source: ``torch.utils.data.DistributedSampler``.
    """
    checks.count(0, samples=samples)
    checks.count(ranks=ranks)
    checks.count(0, ranks - 1, rank=rank)
    if order is not None:
        checks.require(sorted(order) == list(range(samples)), f"hold each of {samples} samples once", order=order)
    visits = range(samples) if order is None else order
    turns = samples // ranks if drop_last else -(-samples // ranks)
    return [visits[position % samples] for position in range(rank, turns * ranks, ranks)]


def debug_eval(scores: Sequence[float], ranks: int) -> float:
    """The mean score of a test set whose samples are split over ranks as by ``shard_indices``, padded.

    Args:
        scores: the score of each sample, in order; at least one.
        ranks: how many ranks share the test set; at least 1.

    Returns:
        The mean that one rank alone would report, whatever the number of ranks.
    """
    checks.count(ranks=ranks)
    checks.require(len(scores) > 0, "hold at least one score", scores=scores)
    samples = len(scores)
    turns = -(-samples // ranks)  # visits of each rank, padding among them
    total, count = 0.0, 0
    for rank in range(ranks):
        visited = [rank + turn * ranks for turn in range(turns)]
        own = [scores[position] for position in visited if position < samples]  # later ones repeat the first samples
        total, count = total + sum(own), count + len(own)
    return total / count
