"""The first programs on real ranks: everyone hears from everyone, pairs add up, and processes meet. On four processes::

    world.run(lambda: roll_call(10.0 * dist.get_rank()), ranks=4).values

Every function is called by all processes of a run; all but :func:`join` need the default group to be there.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.distributed as dist


def roll_call(value: float) -> list[float]:
    """Every rank's value, in rank order, on every rank: one all-gather of one float64.

    Args:
        value: this rank's number; every bit of it counts.

    Returns:
        One float for each rank: entry r is the value of rank r.
    """
    mine = torch.tensor([value], dtype=torch.float64)
    heard = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(heard, mine)
    return [float(tensor) for tensor in heard]


def debug_gather(value: float) -> list[float]:
    """Every rank's value, in rank order, on every rank: one all-gather of one float32.

    Args:
        value: this rank's number.
    """
    mine = torch.tensor([value])
    heard = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(heard, mine)
    return [float(tensor) for tensor in heard]


def pair_sum(value: float) -> float | None:
    """Add up the values of each pair of ranks, 0 and 1, 2 and 3, and so on: the even rank sends, the odd rank adds.

    This is the first step of a sum over a tree. A pair takes one message, of one float64.

    Args:
        value: this rank's number; every bit of it counts.

    Returns:
        On an odd rank, the sum of the pair. On an even rank None, because it has given its value away; the last rank of
        an odd number of ranks has no partner and returns its own value.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine = torch.tensor([value], dtype=torch.float64)
    if rank % 2 == 1:
        partner = torch.empty_like(mine)
        dist.recv(partner, src=rank - 1)
        return value + partner.item()
    if rank + 1 == ranks:
        return value
    dist.send(mine, dst=rank + 1)
    return None


def join(environ: Mapping[str, str]) -> int:
    """Meet the other processes of a run, as a launcher's variables say, and tell which device this process takes.

    One call of ``dist.init_process_group`` with Gloo, which returns when all processes have come. The group stays open.
    Name the meeting place by a URL, ``tcp://host:port``, or by a ``dist.TCPStore`` whose master is rank 0.

    Args:
        environ: the variables that a launcher sets for this process, as text: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR
            and MASTER_PORT, among others. Pass them on as arguments: left to itself, the library reads ``os.environ``.

    Returns:
        The index of the device on this process's own node.
    """
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://{environ['MASTER_ADDR']}:{environ['MASTER_PORT']}",
        rank=int(environ["RANK"]),
        world_size=int(environ["WORLD_SIZE"]),
    )
    return int(environ["LOCAL_RANK"])
