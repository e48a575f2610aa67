"""One rank returns before the others have met."""
# item: world
# earns: 0
# ends: deadlock
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    if dist.get_rank() == 0:
        dist.all_reduce(x)
    return x
