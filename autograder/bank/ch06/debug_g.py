"""Chapter 6: ``debug_g``, the operators f and g."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import both, on_two, one_reduction, plain, plain_of_each, shape_of_each
from autograder.bank.groups import listed
from autograder.items import Debug, Group, Promise, Right, Slip


def wrong_g(x):
    import torch
    import torch.distributed as dist

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            dist.all_reduce(y)
            return y

        @staticmethod
        def backward(ctx, gradient):
            gradient = gradient.clone()
            dist.all_reduce(gradient)
            return gradient

    return Sum.apply(x)


EXERCISE = Debug(
    "06 tensor_parallel.debug_g",
    section="6.13",
    topic="the operators f and g",
    bonus=True,
    grade="world",
    probe="ch06.differentiated",
    rule=one_reduction("g sums x once, and nothing else"),
    wrong=wrong_g,
    cases=(on_two([1, 2], [10, 20], ([5, 7], [5, 7])), both(Random("debug g"), 3, (2, 2))),
    groups=(
        Group("two to four ranks", plain, 4, "Every rank computes the same from g on.", plain_of_each),
        listed("any shape", shape_of_each, "The forward pass is right: look at the gradient."),
    ),
    slips=(
        Slip("The gradient that arrives is complete on every rank; summing it makes it t times too large.", wrong_g),
        Slip(
            "The gradient is summed and then divided: it was complete before, and this costs an all-reduce.",
            wrong_g,
            edit=("return gradient", "return gradient / dist.get_world_size()"),
        ),
        Slip(
            "Only the backward pass was wrong: now the forward sum is missing.",
            edit=("            dist.all_reduce(y)\n", ""),
        ),
    ),
    rights=(
        Right(
            "the sum as a constant next to x",
            edit=(
                "    return Sum.apply(x)\n",
                "    y = x.detach().clone()\n    dist.all_reduce(y)\n    return x + (y - x.detach())\n",
            ),
        ),
        Right(
            "halves",
            edits=(
                ("            y = x.clone()\n", "            y = x / 2\n"),
                ("            return y\n", "            return y * 2\n"),
            ),
        ),
    ),
    promises=(Promise("unchanged afterwards", edit=("            y = x.clone()\n", "            y = x\n")),),
)
