"""Destroys the group that it was given and makes its own."""
# item: world
# earns: 0
# ends: value raised died deadlock refused timeout
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    dist.destroy_process_group()
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    dist.all_reduce(x)
    return x
