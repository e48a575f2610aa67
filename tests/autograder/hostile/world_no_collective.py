"""Returns an answer without calling any collective."""
# ends: value
# levels: best
import torch
import torch.distributed as dist


def answer(x):
    return x * dist.get_world_size()
