"""Programs of sends and receives on real ranks, and the calls in which ranks get stuck. ``simulate`` predicts them.

>>> play(ring_programs("all_send", 2), timeout=1)  # doctest: +SKIP
{0: ('send', 1), 1: ('send', 0)}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist

from rankzero import world

from .ring_policies import POLICIES, Program, ring_programs

__all__ = ["CATALOGUE", "POLICIES", "play", "ring_programs", "run_program"]

_WAITS = re.compile(r"waits in (i?(?:send|recv))\((?:dst|src)=(\d+)\)")

#: Programs for 2 to 4 ranks, by name: rings in every blocking order, and others that finish or get stuck.
CATALOGUE: Mapping[str, Sequence[Program]] = {
    **{f"{policy}, {n} ranks": ring_programs(policy, n) for policy in POLICIES[:3] for n in (2, 3, 4)},
    "both receive first": [[("recv", 1), ("send", 1)], [("recv", 0), ("send", 0)]],
    "a message to the wrong rank": [[("send", 1)], [("recv", 0), ("recv", 2)], [("send", 0)]],
    "a chain": [[("send", 1)], [("recv", 0), ("send", 2)], [("recv", 1), ("send", 3)], [("recv", 2)]],
    "two pairs, one stuck": [
        [("send", 1), ("recv", 1)],
        [("send", 0), ("recv", 0)],
        [("send", 3), ("recv", 3)],
        [("recv", 2), ("send", 2)],
    ],
}


def play(programs: Sequence[Program], timeout: float = 3.0) -> dict[int, tuple[str, int]]:
    """Run programs on real ranks until all have finished or the deadline passes.

    Every message is one float. The ranks use Gloo, where a send waits for its receiver, however small the message.

    Args:
        programs: what each rank calls, in order: ``send``, ``recv``, ``isend`` or ``irecv``, and the other rank.
        timeout: seconds after which a rank that is still waiting counts as stuck.

    Returns:
        The call in which each stuck rank waits, by rank; empty if all ranks finished.

    Raises:
        WorldError: a rank raised, died, or was still computing.
    """
    try:
        world.run(run_program, programs, ranks=len(programs), timeout=timeout, backend="gloo")
    except world.WorldError as error:
        return stuck(error)
    return {}


def stuck(error: world.WorldError) -> dict[int, tuple[str, int]]:
    """Who waits for whom in a world that did not finish: for each waiting rank, its call and the other rank.

    Raises:
        WorldError: the same error, if a rank did anything other than wait for a message or finish.
    """
    blocked = {}
    for report in error.reports:
        waits = _WAITS.match(report.what)
        if waits:
            blocked[report.rank] = (waits[1], int(waits[2]))
        elif report.state != "finished":
            raise error
    return blocked


def run_program(programs: Sequence[Program]) -> None:
    """Make this rank's calls, in order, then wait for those that were posted without blocking."""
    posted: list[tuple[Any, torch.Tensor]] = []  # a buffer lives as long as its message
    for verb, peer in programs[dist.get_rank()]:
        buffer = torch.ones(1)
        handle = getattr(dist, verb)(buffer, peer)
        if verb.startswith("i"):
            posted.append((handle, buffer))
    for handle, _ in posted:
        handle.wait()
