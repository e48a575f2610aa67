"""Chapter 1: ``debug_gather``, buffers of the caller."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received
from autograder.bank.ch01.shared import values
from autograder.items import Case, Debug, Group, Right, Slip


def wrong_gather(value):
    import torch
    import torch.distributed as dist

    heard = [torch.zeros(1)] * dist.get_world_size()
    dist.all_gather(heard, torch.tensor([value]))
    return [float(tensor) for tensor in heard]


def _quarters(rng: Random, ranks: int = 0) -> Case:
    """Different multiples of a quarter, which float32 holds exactly; the last is not the first."""
    return values(*(number / 4 for number in rng.sample(range(-400, 400), ranks or rng.randint(2, 4))))


def floats_gathered_into_one(value):
    import torch
    import torch.distributed as dist

    heard = torch.empty(dist.get_world_size())
    dist.all_gather_into_tensor(heard, torch.tensor([value]))
    return heard.tolist()


def floats_gathered_into_parts(value):
    import torch
    import torch.distributed as dist

    heard = torch.empty(dist.get_world_size(), 1)
    dist.all_gather(list(heard), torch.full((1,), value))
    return [one.item() for one in heard.flatten()]


EXERCISE = Debug(
    "01 first_program.debug_gather",
    section="1.3",
    topic="buffers of the caller",
    grade="world",
    tolerance=1e-5,
    rule=least_received.from_each(4),
    wrong=wrong_gather,
    cases=(values(0, 10, 20, 30), values(1.5, -2.5)),
    groups=(
        Group(
            "different values",
            _quarters,
            4,
            "Entry r is the value of rank r, on every rank.",
            lambda rng: [_quarters(rng, ranks) for ranks in (4, 3)],
        ),
        Group("one rank", lambda rng: values(rng.randint(-8, 8)), 2, "One rank hears itself."),
    ),
    slips=(
        Slip(
            "All entries are one tensor, which holds what came last; copying it afterwards is too late.", wrong_gather
        ),
        Slip(
            "One entry has a buffer of its own and the others still share one.",
            program=wrong_gather,
            edit=("    dist.all_gather(", "    heard[dist.get_rank()] = torch.zeros(1)\n    dist.all_gather("),
        ),
    ),
    rights=(
        Right("one tensor for all", program=floats_gathered_into_one),
        Right("rows of one tensor", program=floats_gathered_into_parts),
    ),
)
