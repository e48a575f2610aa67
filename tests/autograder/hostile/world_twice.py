"""Reduces twice where once is enough."""
# item: world
# earns: 0
# ends: value
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    y = x.clone()
    dist.all_reduce(y)
    dist.all_reduce(y)
    return y / 2
