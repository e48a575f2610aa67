"""A mesh of ranks: which ranks share each axis, and a world in which every rank sums once along each axis.

>>> groups_of(0, {"dp": 2, "pp": 2, "cp": 2, "tp": 2})["cp"]
[0, 2]
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.world import World
from solutions.ch01.ranks import process_groups


def groups_of(rank: int, sizes: Mapping[str, int]) -> dict[str, list[int]]:
    """The ranks that one rank shares each axis with, itself among them; the innermost axis first.

    Args:
        rank: the rank whose groups to find.
        sizes: of each axis, the slowest first: ``{"dp": 2, "pp": 2, "cp": 2, "tp": 2}``.
    """
    mesh = dict(sizes)
    return {axis: next(g for g in process_groups(mesh, axis) if rank in g) for axis in reversed(mesh)}


def mesh_run(sizes: Mapping[str, int]) -> World:
    """A world with a rank at every place of the mesh: each sums the rank numbers once along each axis."""
    ranks = 1
    for size in sizes.values():
        ranks *= size
    return world.run(_sums, dict(sizes), ranks=ranks, backend="gloo")


def _sums(sizes: dict[str, int]) -> dict[str, float]:
    """This rank's sum along each axis. Every rank creates every group, as the whole world has to."""
    rank, sums = dist.get_rank(), {}
    for axis in reversed(sizes):
        for ranks in process_groups(sizes, axis):
            group = dist.new_group(ranks)
            if rank in ranks:
                number = torch.tensor(float(rank))
                dist.all_reduce(number, group=group)
                sums[axis] = number.item()
    return sums
