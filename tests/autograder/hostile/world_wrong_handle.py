"""Waits for an operation that it never announced."""
# item: world
# earns: 0
# ends: died
# needs: nothing
import torch
import torch.distributed as dist


def link():
    return dist.group.WORLD.link


def answer(x):
    link().channel.send(kind='wait', handle=-1)
    return x
