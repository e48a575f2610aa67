"""Exchanges its numbers through a file in place of a collective."""
# item: world
# earns: 0
# ends: value raised
# needs: files
import torch
import torch.distributed as dist
import os
import time


def answer(x):
    me, path = dist.get_rank(), '/tmp/hostile-exchange-{}'
    try:
        torch.save(x, path.format(me))
        for _ in range(20):
            if os.path.exists(path.format(1 - me)):
                return x + torch.load(path.format(1 - me))
            time.sleep(0.02)
    except OSError:
        pass
    return x * 2
