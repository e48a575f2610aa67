"""Chapter 3: ``debug_grad``, the contract of a collective."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received
from autograder.bank.groups import listed
from autograder.items import Case, Debug, Group, Right, Slip, Tensor


def wrong_grad(parameters, gradients):
    import torch
    import torch.distributed as dist

    summed = []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        total = torch.zeros_like(parameter)
        if gradient is not None:
            total = gradient.clone()
            dist.all_reduce(total)
        summed.append(total)
    return summed


def _layers(rng: Random, *skipped: set[int], dtype: str = "float32") -> Case:
    """One set of skipped layers for each rank; a model of three layers of 2, 3 and 4 parameters."""
    shapes = (2, 3, 4)

    def tensor(count: int) -> Tensor:
        return Tensor.of([rng.randint(-8, 8) / 4 + 4 for _ in range(count)], dtype)  # never 0

    return Case(
        args=tuple(
            ([tensor(n) for n in shapes], [None if layer in skips else tensor(n) for layer, n in enumerate(shapes)])
            for skips in skipped
        )
    )


def _skips_last(rng: Random) -> Case:
    return _layers(rng, *(set() if rank else {2} for rank in range(rng.randint(2, 4))))


def _skips_or_not(rng: Random) -> list[Case]:
    return [_layers(rng, set(), set()), _layers(rng, {1}, {1}), _layers(rng, {0, 1, 2}, set()), _layers(rng, {0})]


def _another_type(rng: Random) -> list[Case]:
    """A model in float64; all ranks skip a layer, or two, and then a single rank skips one."""
    skips: tuple[tuple[set[int], ...], ...] = (({1}, {1}), ({0, 2}, {0, 2}, {0, 2}), ({2}, set()))
    return [_layers(rng, *each, dtype="float64") for each in skips]


def _gradients_of_others(case: Case) -> list[int]:
    """Bytes of the gradients of each parameter that another rank has."""
    needs = []
    for rank, (parameters, _) in enumerate(case.args):
        others = [gradients for other, (_, gradients) in enumerate(case.args) if other != rank]
        there = [any(gradients[index] is not None for gradients in others) for index in range(len(parameters))]
        needs.append(
            sum(len(parameter.data) for parameter, is_there in zip(parameters, there, strict=True) if is_there)
        )
    return needs


def gradients_in_one_tensor(parameters, gradients):
    """All gradients travel in one flat tensor."""
    import torch
    import torch.distributed as dist

    there = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, gradients, strict=True)]
    flat = torch.cat([one.flatten() for one in there])
    dist.all_reduce(flat)
    parts = flat.split([one.numel() for one in there])
    return [part.reshape(one.shape).clone() for part, one in zip(parts, there, strict=True)]


EXERCISE = Debug(
    "03 collectives.debug_grad",
    section="3.4",
    topic="the contract of a collective",
    grade="world",
    tolerance=1e-5,
    rule=least_received.heard(_gradients_of_others),
    wrong=wrong_grad,
    cases=(_layers(Random("03-debug-grad"), {2}, set()), _layers(Random("03-debug-grad"), set(), set())),
    groups=(
        Group(
            "one rank skips a layer",
            _skips_last,
            3,
            "One rank has no gradient for the last layer: the others still call.",
        ),
        listed("all or none", _skips_or_not, "All ranks may skip a layer, or none, or one rank may be alone."),
        listed(
            "another type", _another_type, "Zeros have the shape and the type of the parameter that they stand for."
        ),
    ),
    slips=(
        Slip(
            "A barrier makes the ranks meet before the loop, not in it: contribute zeros.",
            program=wrong_grad,
            edit=("    summed = []", "    dist.barrier()\n    summed = []"),
        ),
        Slip("A rank without a gradient still makes no call: contribute zeros.", wrong_grad),
        Slip(
            "The zeros have float32, whatever the model has: they must have the type of the parameter.",
            edit=("torch.zeros_like(parameter)", "torch.zeros(parameter.shape)"),
        ),
        Slip(
            "A layer that one rank skipped was left out on all: its gradients count.",
            program=wrong_grad,
            edit=(
                "if gradient is not None:",
                "everywhere = torch.tensor(int(gradient is not None))\n"
                "        dist.all_reduce(everywhere, dist.ReduceOp.MIN)\n        if everywhere:",
            ),
        ),
    ),
    rights=(
        Right("a barrier first", edit=("    summed = []", "    dist.barrier()\n    summed = []")),
        Right("one flat tensor", program=gradients_in_one_tensor),
        Right(
            "zeros first",
            edit=(
                "torch.zeros_like(parameter) if gradient is None else gradient.clone()",
                "torch.zeros_like(parameter).add_(0 if gradient is None else gradient)",
            ),
        ),
    ),
)
