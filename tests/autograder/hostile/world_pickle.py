"""Sends its peer an object that ends whoever unpickles it."""
# item: world
# earns: 0
# ends: died deadlock raised
# needs: nothing
import torch
import torch.distributed as dist

import os


class Bomb:
    def __reduce__(self):
        return os._exit, (0,)


def answer(x):
    got = [None, None]
    dist.all_gather_object(got, Bomb() if dist.get_rank() == 0 else 1)
    return x
