# Generated from solutions/ch05/buckets.py by make stubs. Write the bodies; names and signatures stay.
"""Buckets of gradients: how they are filled, and how much of their communication outlasts the backward pass.

Standard library only. Sizes are in bytes, times in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


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

    Source: Li et al. (2020), arXiv:2006.15704, section 3.2.2; ``torch.distributed._compute_bucket_assignment_by_size``.
    """
    checks.amount(sizes=sizes)
    checks.positive(limits=limits)
    checks.require(len(limits) > 0, "hold at least one limit", limits=limits)
    raise NotImplementedError("05-assign-buckets: not written yet")


def exposed_communication(compute: Sequence[float], communication: Sequence[float]) -> float:
    """Seconds of communication that remain after the backward pass has ended.

    The buckets go over one stream, one after another, in the order in which they become ready; ``communication[j]``
    may start when ``compute[j]`` has ended. Computing and communicating do not slow each other down.

    Args:
        compute: seconds of computation for each bucket, in the order of the backward pass; not negative.
        communication: seconds of each bucket's communication, as many and in the same order; not negative.

    Returns:
        Seconds from the end of the backward pass to the end of the last transfer; 0 without buckets.

    Source: Li et al. (2020), arXiv:2006.15704, section 3.2.3.
    """
    checks.amount(compute=compute, communication=communication)
    checks.require(
        len(compute) == len(communication), "have one length", compute=len(compute), communication=len(communication)
    )
    raise NotImplementedError("05-exposed-communication: not written yet")
