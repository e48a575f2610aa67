"""Announces operations with fields of wrong types."""
# item: world
# earns: 0
# ends: died
# needs: nothing
import torch
import torch.distributed as dist



def link():
    return dist.group.WORLD.link


def answer(x):
    link().channel.send(kind="post", handle="0", operation=["all_reduce"], group={"0": 1}, name=None, types="x", gives=3)
    dist.barrier()
    return x
