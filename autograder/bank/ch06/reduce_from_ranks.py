"""Chapter 6: ``reduce_from_ranks``, the operators f and g."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import COPIED, GROUPS, ONE, both, on_two, one_reduction
from autograder.items import Build, Promise, Right, Slip

EXERCISE = Build(
    "06 tensor_parallel.reduce_from_ranks",
    section="6.13",
    topic="the operators f and g",
    bonus=True,
    grade="world",
    probe="ch06.operator",
    rule=one_reduction("g sums x once, and nothing else"),
    cases=(on_two([1, 2], [10, 20], ([5, 7], [5, 7])), both(Random("g"), 3, (2, 2)), ONE),
    groups=GROUPS,
    slips=(
        Slip("The partial sums were not added.", edit=("_Reduce.apply(x, group)", "x.view_as(x)")),
        Slip(
            "The gradient was summed, too: it is complete on every rank and becomes t times too large.",
            edits=(
                ("return _sum(x, group)", "ctx.group = group\n        return _sum(x, group)"),
                ("return gradient, None", "return _sum(gradient, ctx.group), None"),
            ),
        ),
        Slip("x was summed in place: sum a copy.", edit=(COPIED, "x.contiguous()")),
        Slip(
            "Partial sums were averaged: add them.", edit=("return total", "return total / dist.get_world_size(group)")
        ),
        Slip(
            "The sum was formed outside autograd: no gradient comes back.",
            edit=("_Reduce.apply(x, group)", "_sum(x.detach(), group)"),
        ),
        Slip(
            "All partial sums were gathered: one all-reduce would sum them.",
            edit=(
                "return _sum(x, group)",
                "mine = x.contiguous()\n"
                "        parts = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]\n"
                "        dist.all_gather(parts, mine, group=group)\n"
                "        return torch.stack(parts).sum(0)",
            ),
        ),
    ),
    rights=(
        Right(
            "halves, added up and doubled",
            edit=("        return _sum(x, group)\n", "        return _sum(x * 0.5, group) * 2\n"),
        ),
        Right(
            "the sum as a constant next to x",
            edit=(
                "    return _Reduce.apply(x, group)\n",
                "    return x.clone() + (_sum(x.detach(), group) - x.detach())\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "unchanged afterwards, as is the gradient that arrives",
            edit=(
                "        return _sum(x, group)\n",
                "        dist.all_reduce(x, group=group)\n        return x.clone()\n",
            ),
        ),
    ),
)
