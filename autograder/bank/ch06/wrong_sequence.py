"""Chapter 6: a sequence joined and split, as people get it wrong."""

from __future__ import annotations

from autograder.items import Slip

_SCATTERED = "mine = torch.empty_like(parts[0])\n    dist.reduce_scatter(mine, parts, group=group)\n    return mine"
_OWN_PART = (_SCATTERED, "return parts[dist.get_rank(group)].clone()")
_ALL_REDUCED = (
    f"parts = [part.contiguous() for part in x.chunk(ranks, dim)]\n    {_SCATTERED}",
    "total = x.clone(memory_format=torch.contiguous_format)\n"
    "    dist.all_reduce(total, group=group)\n"
    "    return total.chunk(ranks, dim)[dist.get_rank(group)].contiguous()",
)

GATHERS = (
    Slip(
        "The backward pass takes the rank's own slice and loses what the other ranks computed from the part.",
        edit=_OWN_PART,
    ),
    Slip("The parts were joined along the first dimension.", edit=("torch.cat(parts, dim)", "torch.cat(parts, 0)")),
    Slip(
        "The parts were joined outside autograd: no gradient comes back.",
        edit=("_Gather.apply(x, dim, group)", "_joined(x.detach(), dim, group)"),
    ),
    Slip("The backward pass is an all-reduce and a slice: a reduce-scatter sends half as much.", edit=_ALL_REDUCED),
)

SCATTERS = (
    Slip("x was sliced but not summed: it is a partial sum on every rank.", edit=_OWN_PART),
    Slip(
        "The backward pass fills up with zeros: gather the gradients of all ranks.",
        edits=(
            ("torch.empty_like(x, memory_format=torch.contiguous_format)", "torch.zeros_like(x)"),
            ("dist.all_gather(parts, x.contiguous(), group=group)", "parts[dist.get_rank(group)] = x"),
        ),
    ),
    Slip(
        "The sum was cut along the first dimension.",
        edits=(
            ("x.chunk(ranks, dim)", "x.tensor_split(ranks)"),
            ("torch.empty_like(parts[0])", "torch.empty_like(parts[dist.get_rank(group)])"),
            ("torch.cat(parts, dim)", "torch.cat(parts)"),
        ),
    ),
    Slip("That is an all-reduce and a slice: a reduce-scatter sends half as much.", edit=_ALL_REDUCED),
)
