"""Who sees which sample: the library's ``DistributedSampler`` on real ranks, epoch after epoch.

sampler_orders(samples=10, ranks=3, epochs=4)[0]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import torch

from rankzero import world


def sampler_orders(
    samples: int = 10,
    ranks: int = 3,
    epochs: int = 4,
    shuffle: bool = True,
    set_epoch: bool = True,
    drop_last: bool = False,
) -> list[list[list[int]]]:
    """The samples that the sampler gives each rank, in order: ``orders[epoch][rank]``.

    Args:
        samples: size of the data set; at least 1.
        ranks: real processes, each with a sampler of its own; at least 1.
        epochs: passes over the data set.
        shuffle: draw a new order for each epoch, the same on every rank.
        set_epoch: tell the sampler which epoch it is, as a training loop must.
        drop_last: leave samples out rather than repeat some.
    """
    run = world.run(_own_orders, samples, epochs, shuffle, set_epoch, drop_last, ranks=ranks)
    return [list(epoch) for epoch in zip(*run.values, strict=True)]


def visits(orders: Sequence[Sequence[Sequence[int]]], samples: int) -> list[list[int]]:
    """How often each sample is seen in each epoch, over all ranks: ``counts[epoch][sample]``."""
    counts = [Counter(sample for order in epoch for sample in order) for epoch in orders]
    return [[count[sample] for sample in range(samples)] for count in counts]


def _own_orders(samples: int, epochs: int, shuffle: bool, set_epoch: bool, drop_last: bool) -> list[list[int]]:
    """On one rank: its samples in each epoch. The sampler takes rank and world size from the process group."""
    data: torch.utils.data.Dataset = range(samples)  # type: ignore[assignment]  # the sampler asks only for its length
    sampler: torch.utils.data.DistributedSampler = torch.utils.data.DistributedSampler(
        data, shuffle=shuffle, drop_last=drop_last
    )
    orders = []
    for epoch in range(epochs):
        if set_epoch:
            sampler.set_epoch(epoch)
        orders.append(list(sampler))
    return orders
