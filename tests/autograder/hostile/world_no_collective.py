"""Returns an answer without calling any collective."""
# item: world
# earns: 0
# ends: value
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    return x * dist.get_world_size()
