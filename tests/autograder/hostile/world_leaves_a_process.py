"""Leaves a process behind that speaks for the rank when it has answered."""
# item: world
# earns: 0
# ends: value died raised deadlock
# needs: nothing
import torch
import torch.distributed as dist

import os
import time


def answer(x):
    if os.fork() == 0:
        os.setsid()
        while True:
            time.sleep(0.1)
            try:
                dist.all_reduce(torch.ones(1))
            except BaseException:
                pass
    return x
