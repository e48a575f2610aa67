"""Replies with an answer while it is waited for in a collective."""
# item: world
# earns: 0
# ends: value died deadlock raised
# needs: nothing
import torch
import torch.distributed as dist



def link():
    return dist.group.WORLD.link


def answer(x):
    if dist.get_rank() == 1:
        link().channel.send(kind="value", value=["f", "0x1.8p+1"], arguments=None)
    dist.all_reduce(x)
    return x
