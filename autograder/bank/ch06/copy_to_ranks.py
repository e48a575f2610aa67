"""Chapter 6: ``copy_to_ranks``, the operators f and g."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import COPIED, GROUPS, ONE, both, on_two, one_reduction
from autograder.items import Build, Promise, Right, Slip

SUMMED_IN_PLACE = (
    (
        "        return _sum(gradient, ctx.group), None\n",
        "        dist.all_reduce(gradient, group=ctx.group)\n        return gradient, None\n",
    ),
)


EXERCISE = Build(
    "06 tensor_parallel.copy_to_ranks",
    section="6.2",
    topic="the operators f and g",
    grade="world",
    probe="ch06.operator",
    rule=one_reduction("f sums the gradient once, and nothing else"),
    cases=(on_two([1, 2], [1, 2], ([1, 1], [2, 3])), both(Random("f"), 3, (2, 2)), ONE),
    groups=GROUPS,
    slips=(
        Slip(
            "The gradients are not summed: each rank keeps the contribution of its own part.",
            edit=("return _Copy.apply(x, group)", "return x"),
        ),
        Slip("x was summed in the forward pass, where f does nothing.", edit=("x.view_as(x)", "_sum(x, group)")),
        Slip(
            "That is g: f sums in the backward pass, not in the forward pass.",
            edits=(("x.view_as(x)", "_sum(x, group)"), ("_sum(gradient, ctx.group)", "gradient")),
        ),
        Slip("The gradient that arrived was summed in place: sum a copy.", edit=(COPIED, "x")),
        Slip(
            "The gradients were averaged: contributions have to be added.",
            edit=("return total", "return total / dist.get_world_size(group)"),
        ),
    ),
    rights=(
        Right(
            "halves, added up and doubled",
            edit=(
                "        return _sum(gradient, ctx.group), None\n",
                "        parts = _sum(gradient * 0.5, ctx.group)\n        return parts + parts, None\n",
            ),
        ),
        Right(
            "a hook on a copy",
            edit=(
                "    return _Copy.apply(x, group)\n",
                "    y = x.clone()\n    if y.requires_grad:\n"
                "        y.register_hook(lambda gradient: _sum(gradient, group))\n    return y\n",
            ),
        ),
    ),
    promises=(
        Promise("unchanged afterwards, as is the gradient that arrives", edits=SUMMED_IN_PLACE),
        Promise("in the backward pass, the sum of its gradients", edit=("_sum(gradient, ctx.group)", "gradient")),
    ),
)
