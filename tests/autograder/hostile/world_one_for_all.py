"""Rank 0 computes every rank's answer; the others return nothing."""
# item: world
# earns: 0
# ends: value
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    if dist.get_rank() == 0:
        return [x * 2, x * 2]
    return None
