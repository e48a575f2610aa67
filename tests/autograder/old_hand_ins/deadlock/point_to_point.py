from __future__ import annotations

import torch
import torch.distributed as dist


def ring_shift(x, distance=1):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    arrived = torch.empty_like(x)
    dist.send(x.contiguous(), (rank + distance) % ranks)
    dist.recv(arrived, (rank - distance) % ranks)
    return arrived
