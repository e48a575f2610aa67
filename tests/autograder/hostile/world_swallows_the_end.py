"""Catches whatever ends a case, and waits again."""
# item: world
# earns: 0
# ends: timeout deadlock
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    while True:
        try:
            dist.recv(x, 1 - dist.get_rank())
        except BaseException:
            pass
