"""Chapter 03: two programs on real ranks to debug. The labs hold their wrong versions as they are here."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received, rules
from autograder.bank.groups import listed
from autograder.items import Case, Debug, Group, Slip, Tensor


def wrong_dtype(number):
    import torch
    import torch.distributed as dist

    gathered = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, torch.tensor([number]))
    return [int(tensor) for tensor in gathered]


def _numbers(*numbers: int) -> Case:
    return Case(args=tuple((number,) for number in numbers))


def _small(rng: Random) -> Case:
    return _numbers(*(rng.randint(0, 1000) for _ in range(rng.randint(1, 4))))


def _odd(rng: Random) -> Case:
    """Odd numbers above 2**24 and above 2**53."""
    return _numbers(2 ** rng.randint(25, 30) + 1, 7, 2 ** rng.randint(54, 62) + 1)


DEBUG_DTYPE = Debug(
    id="03-debug-dtype",
    module="collectives",
    function="debug_dtype",
    grade="world",
    section="3.13",
    bonus=True,
    topic="buffers of the caller",
    cases=(_numbers(0, 1, 2, 3), _numbers(16_777_217, 5)),
    groups=(
        Group("small numbers", _small, 3, "Small numbers must arrive on every rank, in rank order."),
        Group("large numbers", _odd, 2, "Every bit of a 64-bit integer counts."),
    ),
    slips=(
        Slip("The buffers are float32 and the numbers int64: give both the same type.", wrong_dtype),
        Slip(
            "The numbers were sent as float32, which holds 24 bits: gather integers.",
            edit=("torch.tensor([number])", "torch.tensor([float(number)])"),
        ),
        Slip(
            "The numbers were sent and returned as floats: gather integers.",
            edits=(
                ("torch.tensor([number])", "torch.tensor([number], dtype=torch.float64)"),
                ("int(tensor)", "float(tensor)"),
            ),
        ),
    ),
    rule=least_received.from_each(4),
    wrong=wrong_dtype,
)


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
        there = [any(gradients[place] is not None for gradients in others) for place in range(len(parameters))]
        needs.append(sum(len(one.data) for one, is_there in zip(parameters, there, strict=True) if is_there))
    return needs


DEBUG_GRAD = Debug(
    id="03-debug-grad",
    module="collectives",
    function="debug_grad",
    grade="world",
    section="3.4",
    topic="the contract of a collective",
    tolerance=1e-5,
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
    rule=rules.every(rules.no_barrier, least_received.heard(_gradients_of_others)),
    wrong=wrong_grad,
)

ITEMS = (DEBUG_DTYPE, DEBUG_GRAD)
