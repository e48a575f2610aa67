"""Buckets of gradients: how they are filled, and how much of their communication outlasts the backward pass.

Standard library only. Sizes are in bytes, times in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def assign_buckets(sizes: Sequence[float], limits: Sequence[float]) -> list[list[int]]:
    """Which gradients are reduced together: the indices in each bucket.

    A bucket takes gradients in the order in which they become ready, and closes as soon as it holds at least its limit:
    it may hold more. What is left over at the end forms the last bucket.

    Args:
        sizes: of the gradients in the order in which they become ready, bytes; not negative.
        limits: of the first bucket, of the second, and so on, bytes; at least one, positive. The last one holds for all
            later buckets. ``DistributedDataParallel`` takes 1 MiB, then 25 MiB.

    Returns:
        One list of indices for each bucket; none when there is no gradient.

    Raises:
        ValueError: there is no limit, or a number is outside its range or not finite; the message names the argument
            and its value.

    Source: Li et al. (2020), arXiv:2006.15704, section 3.2.2; ``torch.distributed._compute_bucket_assignment_by_size``.
    """
    _check_limits(limits)
    _check_not_negative("sizes", sizes)
    buckets: list[list[int]] = []
    held = math.inf  # so that the first gradient opens a bucket
    limit = 0.0
    for index, size in enumerate(sizes):
        if held >= limit:
            limit, held = limits[min(len(buckets), len(limits) - 1)], 0.0
            buckets.append([])
        buckets[-1].append(index)
        held += size
    return buckets


def exposed_communication(compute: Sequence[float], communication: Sequence[float]) -> float:
    """Seconds of communication that remain after the backward pass has ended.

    The buckets go over one stream, one after another, in the order in which they become ready; ``communication[j]``
    may start when ``compute[j]`` has ended. Computing and communicating do not slow each other down.

    Args:
        compute: seconds of computing for each bucket, in the order of the backward pass; not negative.
        communication: seconds of each bucket's communication, in the same order; not negative.

    Returns:
        Seconds from the end of the backward pass to the end of the last transfer; 0 without buckets.

    Raises:
        ValueError: the lengths differ, or a time is negative or not finite; the message names the argument and its
            value.

    Source: Li et al. (2020), arXiv:2006.15704, section 3.2.3.
    """
    if len(compute) != len(communication):
        raise ValueError(f"compute and communication must have one length, got {len(compute)} and {len(communication)}")
    _check_not_negative("compute", compute)
    _check_not_negative("communication", communication)
    ready = free = 0.0
    for computing, sending in zip(compute, communication, strict=True):
        ready += computing
        free = max(ready, free) + sending
    return max(0.0, free - ready)


def _check_limits(limits: Sequence[float]) -> None:
    if not limits:
        raise ValueError(f"limits must hold at least one limit, got {limits!r}")
    for limit in limits:
        if not (math.isfinite(limit) and limit > 0):
            raise ValueError(f"limits must be finite and positive, got {limit!r}")


def _check_not_negative(name: str, values: Sequence[float]) -> None:
    for value in values:
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be finite and not negative, got {value!r}")
