"""Waits for a message whose tag is its input."""
# item: world
# earns: 0
# ends: deadlock
# needs: nothing
import torch
import torch.distributed as dist

kept = []


def answer(x):
    kept.append(int(abs(x[0]) * 10_000))
    dist.recv(x, 1 - dist.get_rank(), tag=max(kept))
    return x
