"""Asks for ever whether a message has come that nobody sends."""
# item: world
# earns: 0
# ends: timeout
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    handle = dist.irecv(x, 1 - dist.get_rank())
    while not handle.is_completed():
        pass
    return x
