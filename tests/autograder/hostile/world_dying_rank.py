"""One rank dies in the middle of a collective."""
# item: world
# earns: 0
# ends: died
# needs: nothing
import torch
import torch.distributed as dist

import os


def answer(x):
    if dist.get_rank() == 1:
        os._exit(0)
    dist.all_reduce(x)
    return x
