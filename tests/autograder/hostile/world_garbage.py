"""Writes garbage on every descriptor in the middle of a collective."""
# item: world
# earns: 0
# ends: died
# needs: nothing
import torch
import torch.distributed as dist

import os


def answer(x):
    if dist.get_rank() == 1:
        for descriptor in range(3, 256):
            try:
                os.write(descriptor, b"garbage\n")
            except OSError:
                pass
    dist.all_reduce(x)
    return x
