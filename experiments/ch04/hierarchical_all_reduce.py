"""An all-reduce in levels on real ranks: first inside each node, then between nodes, then inside again.

A node is a group of consecutive ranks; on a single machine nodes are only names. To run one on four processes, as two
nodes of two::

    run = world.run(hierarchical_all_reduce, torch.ones(8), 2, ranks=4)
    wire_bytes(run.events, ranks=4, ranks_per_node=2)

g is the number of ranks in a node, S the size of the tensor.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import torch
import torch.distributed as dist

from rankzero.events import Event
from solutions.ch01.ranks import process_groups
from solutions.ch03.collective_cost import traffic

Group = dist.ProcessGroup


@lru_cache(maxsize=4)  # each process creates its groups once, not at every call
def node_groups(ranks_per_node: int) -> tuple[Group, Group]:
    """This rank's two groups: the ranks of its node, and the ranks with its place in every node. All ranks call it.

    Raises:
        ValueError: ``ranks_per_node`` does not divide the number of ranks.
    """
    ranks = dist.get_world_size()
    if ranks % ranks_per_node:
        raise ValueError(f"ranks_per_node must divide {ranks} ranks, got {ranks_per_node!r}")
    sizes = {"node": ranks // ranks_per_node, "place": ranks_per_node}
    return _mine(process_groups(sizes, "place")), _mine(process_groups(sizes, "node"))


def hierarchical_all_reduce(x: torch.Tensor, ranks_per_node: int) -> torch.Tensor:
    """The sum over all ranks: reduce-scatter inside the node, all-reduce of S/g across nodes, all-gather inside.

    Each rank exchanges only its own piece, 1/g of the tensor, with other nodes.

    Args:
        x: any shape, the same on every rank; unchanged afterwards. It is padded with zeros to a multiple of g.
        ranks_per_node: g; it divides the number of ranks.

    Returns:
        The sum, a new tensor of the shape of ``x``.
    """
    inside, across = node_groups(ranks_per_node)
    padding = -x.numel() % ranks_per_node
    blocks = list(torch.cat([x.flatten(), x.new_zeros(padding)]).chunk(ranks_per_node))
    piece = torch.empty_like(blocks[0])
    dist.reduce_scatter(piece, blocks, group=inside)
    dist.all_reduce(piece, group=across)
    dist.all_gather(blocks, piece, group=inside)
    return torch.cat(blocks)[: x.numel()].reshape(x.shape)


def uncut_all_reduce(x: torch.Tensor, ranks_per_node: int) -> torch.Tensor:
    """The sum over all ranks in two levels, uncut: an all-reduce of S inside the node, then one across nodes.

    The result is correct, but each rank repeats what the other ranks of its node do, so the nodes exchange g times the
    bytes. Arguments and result as in :func:`hierarchical_all_reduce`.
    """
    inside, across = node_groups(ranks_per_node)
    total = x.clone()
    dist.all_reduce(total, group=inside)
    dist.all_reduce(total, group=across)
    return total


def wire_bytes(events: Iterable[Event], ranks: int, ranks_per_node: int) -> list[tuple[float, float]]:
    """Bytes that each rank sends, ``(inside its node, across nodes)``, in rank order.

    A message counts with its size. A collective counts with the bytes that :func:`.collective_cost.traffic` gives for
    its group, and as inside only if the whole group is on one node.

    Args:
        events: of a run; messages, and collectives without a root.
        ranks: processes of the run.
        ranks_per_node: g; node ``n`` holds ranks ``n*g`` to ``n*g + g-1``.
    """
    sent = [[0.0, 0.0] for _ in range(ranks)]
    for event in events:
        nodes = {rank // ranks_per_node for rank in (event.rank, *event.peers)}
        sent[event.rank][len(nodes) > 1] += _sent(event)
    return [(inside, across) for inside, across in sent]


def _sent(event: Event) -> float:
    if event.operation in ("send", "recv"):
        return event.sent
    members = sorted({event.rank, *event.peers})
    full = max(event.sent, event.received)
    return traffic(event.operation, full, len(members), members.index(event.rank))[0]


def _mine(groups: list[list[int]]) -> Group:
    """The group that contains this rank. Every rank creates all groups in the same order, as the library requires."""
    made = [(members, dist.new_group(members)) for members in groups]
    return next(group for members, group in made if dist.get_rank() in members)
