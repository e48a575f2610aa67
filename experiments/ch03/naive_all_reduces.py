"""Two all-reduces that give the right sum but move too many bytes: the rivals of the chunked ring.

Every function is called by all ranks of the default group; N is the number of ranks.
"""

from __future__ import annotations

import torch
import torch.distributed as dist

from solutions.ch03.collectives import _pass_right


def star_all_reduce(x: torch.Tensor) -> torch.Tensor:
    """The sum over all ranks, through rank 0: it receives every tensor, adds, and sends the sum back.

    Rank 0 receives ``N - 1`` tensors and sends as many, over the one link that everyone waits for. Arguments and result
    as in :func:`.collectives.ring_all_reduce`.
    """
    total = x.clone()
    if dist.get_rank() != 0:
        dist.send(total, 0)
        dist.recv(total, 0)
        return total
    for peer in range(1, dist.get_world_size()):
        arrived = torch.empty_like(total)
        dist.recv(arrived, peer)
        total += arrived
    for peer in range(1, dist.get_world_size()):
        dist.send(total, peer)
    return total


def whole_ring_all_reduce(x: torch.Tensor) -> torch.Tensor:
    """The sum over all ranks, by passing whole tensors around the ring: correct, but with N/2 times the bytes.

    Each rank sends ``N - 1`` tensors and adds in a different order, so the bits differ from rank to rank. Arguments and
    result as in :func:`.collectives.ring_all_reduce`.
    """
    total, passing = x.clone(), x.clone()
    for _ in range(dist.get_world_size() - 1):
        arrived = torch.empty_like(passing)
        _pass_right(passing, arrived)
        total += arrived
        passing = arrived
    return total
