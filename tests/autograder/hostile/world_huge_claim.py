"""Claims to give a terabyte."""
# item: world
# earns: 0
# ends: died deadlock
# needs: nothing
import torch
import torch.distributed as dist



def link():
    return dist.group.WORLD.link


def answer(x):
    facts = dict(handle=0, operation="all_reduce", group=[0, 1], name="0", types=["torch.float32"])
    link().channel.send(kind="post", gives=[1 << 40], takes=[1 << 40] * 2, reduction="SUM", **facts)
    dist.barrier()
    return x
