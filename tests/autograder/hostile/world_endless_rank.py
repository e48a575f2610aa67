"""One rank computes for ever while the other waits for it."""
# ends: timeout
# levels: best
import torch
import torch.distributed as dist


def answer(x):
    while dist.get_rank() == 1:
        pass
    dist.all_reduce(x)
    return x
