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
import re
from collections.abc import Mapping
from dataclasses import dataclass


def locate(rank: int, ranks_per_node: int) -> tuple[int, int]:
    """The node of a global rank, and its local rank there: the index of the device it uses.

    Ranks fill node 0 first, then node 1, and so on; everything counts from 0.

    Args:
        rank: global rank, an integer; not negative.
        ranks_per_node: processes on each node, an integer; at least 1.

    Returns:
        ``(node, local rank)``.

    Raises:
        ValueError: an argument is no integer or outside its range; the message names it and its value.

    Source: torchrun documentation, environment variables RANK, LOCAL_RANK and GROUP_RANK.
    """
    _check_integer("rank", rank, 0)
    _check_integer("ranks_per_node", ranks_per_node, 1)
    return divmod(rank, ranks_per_node)


def coordinates(rank: int, sizes: dict[str, int]) -> dict[str, int]:
    """The position of a rank on each parallel axis.

    Args:
        rank: global rank, from 0 to the product of the sizes minus 1.
        sizes: ranks along each axis, the slowest axis first: the last one varies fastest (row-major); each at least 1.

    Returns:
        The position on each axis, from 0 to its size minus 1; the same axes in the same order.

    Raises:
        ValueError: there is no axis, a size is not an integer >= 1, or the rank is outside the world; the message has
            the numbers.

    Source: ``torch.distributed.device_mesh``; Megatron-LM, ``parallel_state``.
    """
    _check_sizes(sizes)
    world_size = math.prod(sizes.values())
    if not _is_integer(rank) or not 0 <= rank < world_size:
        raise ValueError(f"rank must be an integer from 0 to {world_size - 1}, got {rank!r}")
    places: dict[str, int] = {}
    for axis in reversed(sizes):  # the fastest axis first
        rank, places[axis] = divmod(rank, sizes[axis])
    return {axis: places[axis] for axis in sizes}


def process_groups(sizes: dict[str, int], axis: str) -> list[list[int]]:
    """All process groups along one axis: ranks that differ in their position on that axis and in no other.

    Args:
        sizes: ranks along each axis, the slowest axis first; each at least 1.
        axis: one of the names in ``sizes``.

    Returns:
        The groups, each of ``sizes[axis]`` ascending ranks, sorted by their first members. Every rank of the world is
        in exactly one of them; an axis of size 1 gives a group of one for each rank.

    Raises:
        ValueError: there is no axis, a size is not an integer >= 1, or ``axis`` is not one of the axes.

    Source: Megatron-LM, ``parallel_state.initialize_model_parallel``.
    """
    _check_sizes(sizes)
    if axis not in sizes:
        raise ValueError(f"axis must be one of {', '.join(sizes)}, got {axis!r}")
    names = list(sizes)
    stride = math.prod(sizes[name] for name in names[names.index(axis) + 1 :])  # between neighbours on the axis
    length = sizes[axis] * stride
    firsts = [rank for rank in range(math.prod(sizes.values())) if rank % length < stride]
    return [list(range(first, first + length, stride)) for first in firsts]


@dataclass(frozen=True)
class Rendezvous:
    """What a process has to know to meet the others.

    Attributes:
        rank: its global rank.
        world_size: how many processes meet.
        local_rank: its rank on its own node: which device it takes.
        address: host name or address of the node where they meet.
        port: of the store on that node, 1 to 65535.
    """

    rank: int
    world_size: int
    local_rank: int
    address: str
    port: int


def rendezvous(environ: Mapping[str, str]) -> Rendezvous:
    """Read the five variables that a launcher sets: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT.

    Nothing has a default, and nothing is stripped: a number is written in decimal digits alone, without sign, leading
    zeros, underscores or blanks.

    Args:
        environ: names and values, as ``os.environ``; other names are ignored.

    Raises:
        ValueError: variables are not set (the message names all of them, in the order above); a value is not a number,
            or outside its range: WORLD_SIZE is at least 1, RANK below it, LOCAL_RANK at most RANK, MASTER_PORT from 1
            to 65535; MASTER_ADDR is empty or has blanks around it.

    Source: torch.distributed documentation, environment variable initialization; torchrun documentation.
    """
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
    missing = [name for name in names if name not in environ]
    if missing:
        raise ValueError(f"environ must have {', '.join(names)}; not set: {', '.join(missing)}")
    world_size = _decimal(environ, "WORLD_SIZE", 1)
    rank = _decimal(environ, "RANK", 0, world_size - 1, f" for WORLD_SIZE {world_size}")
    local_rank = _decimal(environ, "LOCAL_RANK", 0, rank, f" for RANK {rank}")
    port = _decimal(environ, "MASTER_PORT", 1, 65535)
    address = environ["MASTER_ADDR"]
    if not address or address != address.strip():
        raise ValueError(f"MASTER_ADDR must be a host without blanks around it, got {address!r}")
    return Rendezvous(rank, world_size, local_rank, address, port)


def debug_device(environ: Mapping[str, str]) -> int:
    """The index of the device that this process takes on its node.

    Args:
        environ: what torchrun sets, including RANK, WORLD_SIZE and LOCAL_RANK. Nodes may have different numbers of
            devices.
    """
    return int(environ["LOCAL_RANK"])


def _is_integer(value: object) -> bool:
    """Whether it is an integer; a bool does not count as one."""
    return isinstance(value, int) and not isinstance(value, bool)


def _check_integer(name: str, value: int, low: int) -> None:
    if not _is_integer(value) or value < low:
        raise ValueError(f"{name} must be an integer >= {low}, got {value!r}")


def _check_sizes(sizes: Mapping[str, int]) -> None:
    if not sizes:
        raise ValueError(f"sizes must have at least one axis, got {sizes!r}")
    for axis, size in sizes.items():
        _check_integer(f"sizes[{axis!r}]", size, 1)


def _decimal(environ: Mapping[str, str], name: str, low: int, high: int | None = None, why: str = "") -> int:
    """The number in a variable, from ``low`` to ``high``; ``why`` says where the bound comes from."""
    text = environ[name]
    if not re.fullmatch("0|[1-9][0-9]*", text):
        raise ValueError(f"{name} must be a decimal integer, got {text!r}")
    value = int(text)
    if value < low or (high is not None and value > high):
        bounds = f">= {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be {bounds}{why}, got {value}")
    return value
