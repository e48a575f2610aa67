"""The eight collectives of ``torch.distributed`` behind one call: what the chapter's sheet runs for real.

Run it inside a world: ``world.run(library_collective, "all_gather", [[1.0], [2.0]], ranks=2).values``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

REDUCTIONS = {
    "sum": dist.ReduceOp.SUM,
    "avg": dist.ReduceOp.AVG,
    "product": dist.ReduceOp.PRODUCT,
    "min": dist.ReduceOp.MIN,
    "max": dist.ReduceOp.MAX,
}

# Each takes this rank's tensor x [n] (the root's, where only that one counts), the root and the reduction, and returns
# what the rank holds afterward: None where the library guarantees nothing.


def _broadcast(x: Tensor, root: int, op: dist.ReduceOp.RedOpType) -> Tensor:
    out = x if dist.get_rank() == root else torch.zeros_like(x)
    dist.broadcast(out, src=root)  # in place
    return out


def _scatter(x: Tensor, root: int, op: dist.ReduceOp.RedOpType) -> Tensor:
    blocks = list(x.chunk(dist.get_world_size()))
    out = torch.empty_like(blocks[0])
    dist.scatter(out, blocks if dist.get_rank() == root else None, src=root)
    return out


def _gather(x: Tensor, root: int, op: dist.ReduceOp.RedOpType) -> Tensor | None:
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())] if dist.get_rank() == root else None
    dist.gather(x, parts, dst=root)
    return torch.cat(parts) if parts else None


def _all_gather(x: Tensor, root: int, op: dist.ReduceOp.RedOpType) -> Tensor:
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    return torch.cat(parts)


def _reduce(x: Tensor, root: int, op: dist.ReduceOp.RedOpType) -> Tensor | None:
    dist.reduce(x, dst=root, op=op)  # in place; on every other rank, x is now undefined
    return x if dist.get_rank() == root else None


def _all_reduce(x: Tensor, root: int, op: dist.ReduceOp.RedOpType) -> Tensor:
    dist.all_reduce(x, op=op)  # in place
    return x


def _reduce_scatter(x: Tensor, root: int, op: dist.ReduceOp.RedOpType) -> Tensor:
    blocks = list(x.chunk(dist.get_world_size()))
    out = torch.empty_like(blocks[0])
    dist.reduce_scatter(out, blocks, op=op)
    return out


def _all_to_all(x: Tensor, root: int, op: dist.ReduceOp.RedOpType) -> Tensor:
    out = torch.empty_like(x)
    dist.all_to_all_single(out, x)
    return out


LIBRARY: dict[str, Callable[[Tensor, int, dist.ReduceOp.RedOpType], Tensor | None]] = {
    "broadcast": _broadcast,
    "scatter": _scatter,
    "gather": _gather,
    "all_gather": _all_gather,
    "reduce": _reduce,
    "all_reduce": _all_reduce,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
}


def library_collective(
    operation: str, inputs: Sequence[Sequence[float] | None], root: int = 0, reduction: str = "sum"
) -> list[float] | None:
    """What this rank holds after the library's own collective, or None where it guarantees nothing.

    Args:
        operation: a name of ``LIBRARY``.
        inputs: what each rank holds before, one sequence per rank; this rank uses its own entry, and for ``broadcast``
            and ``scatter`` the root's.
        root: rank of the root, for the operations that have one.
        reduction: a name of ``REDUCTIONS``, for the operations that reduce.

    Source: documentation of ``torch.distributed``, version 2.13.
    """
    given = inputs[root] if operation in ("broadcast", "scatter") else inputs[dist.get_rank()]
    out = LIBRARY[operation](torch.tensor(given, dtype=torch.float64), root, REDUCTIONS[reduction])
    return None if out is None else out.tolist()
