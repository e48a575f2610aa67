"""Groups inside a world: four ranks in a square sum along rows and columns, once correctly and in two wrong ways.

    world.run(group_sums, ranks=4).values

``dist.new_group`` is a collective call of the *whole* world: every rank creates every group, in the same order, whether
or not it is a member.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist

from solutions.ch01.ranks import process_groups

#: Two rows of two ranks: a row runs along the axis ``column``, and a column along the axis ``row``.
SQUARE = {"row": 2, "column": 2}

#: Who creates a group: whether this rank calls ``new_group`` for a group of these ranks.
MAKERS: dict[str, Callable[[int, list[int]], bool]] = {
    "everyone": lambda rank, ranks: True,
    "members": lambda rank, ranks: rank in ranks,
    "first member": lambda rank, ranks: rank == ranks[0],
}


def group_sums(makers: str = "everyone") -> dict[str, float]:
    """The sum of the rank numbers in this rank's group along each axis of ``SQUARE``; called on four ranks.

    Args:
        makers: who creates each group. ``everyone`` is right. ``members`` fails badly: the library numbers groups in
            the order of the calls, so both rows get the same number and ranks meet the wrong partners; a run may hang,
            or end with sums over ranks that do not form a group. With ``first member`` the creators wait for partners
            that never come.

    Returns:
        One sum for each axis.

    Raises:
        ValueError: ``makers`` is none of the three.

    Source: torch.distributed documentation, ``new_group``.
    """
    if makers not in MAKERS:
        raise ValueError(f"makers must be one of {', '.join(MAKERS)}, got {makers!r}")
    rank, sums = dist.get_rank(), {}
    for axis in SQUARE:
        for ranks in process_groups(SQUARE, axis):
            if not MAKERS[makers](rank, ranks):
                continue
            group = dist.new_group(ranks)
            if rank in ranks:
                number = torch.tensor(float(rank))
                dist.all_reduce(number, group=group)
                sums[axis] = number.item()
    return sums
