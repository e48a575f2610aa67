"""One rank computes for ever while the other waits for it."""
# item: world
# earns: 0
# ends: timeout
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    while dist.get_rank() == 1:
        pass
    dist.all_reduce(x)
    return x
