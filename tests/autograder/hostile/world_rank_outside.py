"""Announces an operation of a group with a rank that is not there."""
# item: world
# earns: 0
# ends: died
# needs: nothing
import torch
import torch.distributed as dist


def link():
    return dist.group.WORLD.link


def answer(x):
    rank = dist.get_rank()
    facts = dict(handle=0, operation='all_reduce', group=[rank, 2], name='0', types=['torch.float32'])
    link().channel.send(kind='post', gives=[12], takes=[12, 12], reduction='SUM', **facts)
    link().channel.send(kind='wait', handle=0)
    return x
