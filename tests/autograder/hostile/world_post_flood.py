"""Announces operations without an end."""
# item: world
# earns: 0
# ends: died timeout
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    while True:
        dist.isend(x, 1 - dist.get_rank())
        link = dist.group.WORLD.link
        link.flush()
