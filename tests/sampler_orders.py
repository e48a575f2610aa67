"""The library's ``DistributedSampler`` on real ranks, for tests: who sees which sample, epoch after epoch."""

from __future__ import annotations

import torch

from rankzero import world


def sampler_orders(
    samples: int, ranks: int, epochs: int, *, shuffle: bool = True, set_epoch: bool = True, drop_last: bool = False
) -> list[list[list[int]]]:
    """The samples that the sampler gives each rank, in order: ``orders[epoch][rank]``."""
    run = world.run(_own_orders, samples, epochs, shuffle, set_epoch, drop_last, ranks=ranks)
    return [list(epoch) for epoch in zip(*run.values, strict=True)]


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
