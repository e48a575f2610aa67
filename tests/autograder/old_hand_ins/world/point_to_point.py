from __future__ import annotations

import torch.distributed as dist


def ring_shift(x, distance=1):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    outgoing = x.detach().contiguous()
    arrived = outgoing.clone()
    if distance % ranks and x.numel():
        requests = [dist.isend(outgoing, (rank + distance) % ranks), dist.irecv(arrived, (rank - distance) % ranks)]
        for request in requests:
            request.wait()
    return arrived
