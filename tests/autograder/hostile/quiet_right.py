"""Adds numbers over the ranks, as it should."""

# item: quiet
# earns: 4
# ends: value
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    total = x.clone()
    dist.all_reduce(total)
    return total
