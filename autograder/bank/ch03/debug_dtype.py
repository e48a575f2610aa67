"""Chapter 3: ``debug_dtype``, buffers of the caller."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received
from autograder.items import Case, Debug, Group, Slip


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


EXERCISE = Debug(
    "03 collectives.debug_dtype",
    section="3.13",
    topic="buffers of the caller",
    bonus=True,
    grade="world",
    rule=least_received.from_each(4),
    wrong=wrong_dtype,
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
)
