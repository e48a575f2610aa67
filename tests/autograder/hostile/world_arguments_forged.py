"""Answers rightly on both ranks, with arguments that are a number."""
# item: world
# earns: 0
# ends: died value timeout
# needs: nothing
import torch
import torch.distributed as dist


def link():
    return dist.group.WORLD.link


def answer(x):
    y = x.clone()
    dist.all_reduce(y)
    link().leave(False)
    link().channel.send(kind='value', value=1, arguments=7)
    while True:
        pass
