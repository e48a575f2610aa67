"""Doubles its own number where the numbers of all ranks are to be added."""

# item: quiet
# earns: 0
# ends: value
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    return x * dist.get_world_size()
