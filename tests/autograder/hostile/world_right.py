"""Is right, and prints a megabyte on one rank."""
# item: world
# earns: 4
# ends: value
# needs: nothing
import torch
import torch.distributed as dist


def answer(x):
    y = x.clone()
    if dist.get_rank() == 1:
        print('x' * 1_000_000)
    work = dist.all_reduce(y, async_op=True)
    work.wait()
    return y
