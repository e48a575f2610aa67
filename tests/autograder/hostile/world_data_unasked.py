"""Hands in data that nobody asked for."""
# item: world
# earns: 0
# ends: died
# needs: nothing
import torch
import torch.distributed as dist


def link():
    return dist.group.WORLD.link


def answer(x):
    link().channel.send(kind='data', blocks=['AAAA'])
    dist.all_reduce(x)
    return x
