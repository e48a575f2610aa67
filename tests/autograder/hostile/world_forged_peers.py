"""Announces operations in the name of its peer."""
# item: world
# earns: 0
# ends: deadlock died
# needs: nothing
import torch
import torch.distributed as dist



def link():
    return dist.group.WORLD.link


def answer(x):
    if dist.get_rank() == 0:
        dist.all_reduce(x)
    else:
        for rank in (0, 1):
            facts = dict(handle=rank, operation="all_reduce", group=[0], name="0", types=["torch.float32"], gives=[4], takes=[4])
            link().channel.send(kind="post", rank=0, unit=0, line=1, called="all_reduce", reduction="SUM", **facts)
    return x
