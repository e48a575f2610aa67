# Generated from solutions/ch01/ranks.py by make stubs. Write the bodies; names and signatures stay.
"""Who is who in a world: nodes, parallel axes, groups, and what a launcher tells a process. Standard library only.

A world is an array of ranks. Each kind of parallelism is one axis of it; axes are named slowest first, so the last one
varies fastest, as in a device mesh. A process group is a line along one axis.

>>> locate(13, ranks_per_node=8)
(1, 5)
>>> coordinates(11, {"pp": 4, "dp": 2, "tp": 2})
{'pp': 2, 'dp': 1, 'tp': 1}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rankzero import checks


def locate(rank: int, ranks_per_node: int) -> tuple[int, int]:
    """The node of a global rank, and its local rank there: the index of the device it uses.

    Ranks fill node 0 first, then node 1, and so on; everything counts from 0.

    Args:
        rank: global rank; not negative.
        ranks_per_node: processes on each node; at least 1.

    Returns:
        ``(node, local rank)``.

    Source: torchrun documentation, environment variables RANK, LOCAL_RANK and GROUP_RANK.
    """
    checks.count(0, rank=rank)
    checks.count(ranks_per_node=ranks_per_node)
    raise NotImplementedError("01-locate: not written yet")


def coordinates(rank: int, sizes: dict[str, int]) -> dict[str, int]:
    """The position of a rank on each parallel axis.

    Args:
        rank: global rank, from 0 to the product of the sizes minus 1.
        sizes: ranks along each axis, the slowest axis first: the last one varies fastest (row-major); each at least 1.

    Returns:
        The position on each axis, from 0 to its size minus 1; the same axes in the same order.

    Source: ``torch.distributed.device_mesh``; Megatron-LM, ``parallel_state``.
    """
    checks.count(sizes=sizes)
    checks.count(0, math.prod(sizes.values()) - 1, rank=rank)
    raise NotImplementedError("01-coordinates: not written yet")


def process_groups(sizes: dict[str, int], axis: str) -> list[list[int]]:
    """All process groups along one axis: ranks that differ in their position on that axis and in no other.

    Args:
        sizes: ranks along each axis, the slowest axis first; each at least 1.
        axis: one of the names in ``sizes``.

    Returns:
        The groups, each of ``sizes[axis]`` ascending ranks, sorted by their first members. Every rank of the world is
        in exactly one of them; an axis of size 1 gives a group of one for each rank.

    Source: Megatron-LM, ``parallel_state.initialize_model_parallel``.
    """
    checks.count(sizes=sizes)
    checks.one_of(sizes, axis=axis)
    raise NotImplementedError("01-process-groups: not written yet")


@dataclass(frozen=True)
class Rendezvous:
    """What a process has to know to meet the others.

    Attributes:
        rank: its global rank, from 0 to ``world_size - 1``.
        world_size: how many processes meet; at least 1.
        local_rank: its rank on its own node, from 0 to ``rank``: which device it takes.
        address: host name or address of the node where they meet; not empty.
        port: of the store on that node, from 1 to 65535.
    """

    rank: int
    world_size: int
    local_rank: int
    address: str
    port: int

    def __post_init__(self) -> None:
        checks.count(world_size=self.world_size)
        checks.count(0, self.world_size - 1, rank=self.rank)
        checks.count(0, self.rank, local_rank=self.local_rank)
        checks.count(1, 65535, port=self.port)
        checks.require(self.address != "", "not be empty", address=self.address)


def rendezvous(environ: Mapping[str, str]) -> Rendezvous:
    """Read the five variables that a launcher sets: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT.

    Nothing has a default.

    Args:
        environ: names and values, as ``os.environ``; other names are ignored. The values are what a launcher writes:
            numbers in decimal digits, and a host.

    Raises:
        ValueError: variables are not set; the message names all of them, in the order above.

    Source: torch.distributed documentation, environment variable initialization; torchrun documentation.
    """
    raise NotImplementedError("01-rendezvous: not written yet")


def debug_device(environ: Mapping[str, str]) -> int:
    """The index of the device that this process takes on its node.

    Args:
        environ: what torchrun sets, including RANK, WORLD_SIZE and LOCAL_RANK. Nodes may have different numbers of
            devices.
    """
    return int(environ["RANK"])
