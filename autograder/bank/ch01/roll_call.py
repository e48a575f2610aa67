"""Chapter 1: ``roll_call``, all-gather."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch01.shared import said, values
from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip


def _large_and_equal(rng: Random) -> list[Case]:
    """Numbers out of the range of float32, equal ones, and one rank."""
    same = rng.uniform(-9, 9)
    return [
        values(1e300, -1e300, rng.uniform(1, 9)),
        values(same, same + 1, same, -same),
        values(rng.uniform(-9, 9)),
        values(0.1, 1e-300),
    ]


def gathered_into_one(value):
    import torch
    import torch.distributed as dist

    heard = torch.empty(dist.get_world_size(), dtype=torch.float64)
    dist.all_gather_into_tensor(heard, torch.tensor([value], dtype=torch.float64))
    return heard.tolist()


def gathered_as_bits(value):
    import torch
    import torch.distributed as dist

    bits = torch.tensor([value], dtype=torch.float64).view(torch.int64)
    heard = torch.empty(dist.get_world_size(), dtype=torch.int64)
    dist.all_gather(list(heard.split(1)), bits)
    return heard.view(torch.float64).tolist()


EXERCISE = Build(
    "01 first_program.roll_call",
    section="1.3",
    topic="all-gather",
    grade="world",
    tolerance=0.0,
    rule=rules.every(
        rules.frugal(1, 8, "one all-gather, of 8 bytes from each rank, is enough"), least_received.from_each(8)
    ),
    cases=(values(0, 10, 20, 30), values(7.5), values(0.1, -0.2)),
    groups=(
        listed(
            "numbers of both signs",
            lambda rng: [said(rng, ranks) for ranks in (4, 3, 2)],
            "Entry r is the value of rank r, on every rank.",
        ),
        listed(
            "large, equal, alone",
            _large_and_equal,
            "Every bit of a float counts, values may be equal, and a rank may be alone.",
        ),
    ),
    slips=(
        Slip(
            "The list holds one buffer N times: make a new one for each rank.",
            edit=(
                "[torch.empty_like(mine) for _ in range(dist.get_world_size())]",
                "[torch.zeros_like(mine)] * dist.get_world_size()",
            ),
        ),
        Slip(
            "all_gather refuses a tensor whose type is not that of the buffers: make both float64.",
            edits=(
                ("torch.tensor([value], dtype=torch.float64)", "torch.tensor([int(value)])"),
                ("torch.empty_like(mine)", "torch.zeros(1)"),
            ),
        ),
        Slip(
            "Only rank 0 has the values: a gather has a root, an all-gather has none.",
            edits=(
                (
                    "[torch.empty_like(mine) for _ in range(dist.get_world_size())]",
                    "[torch.empty_like(mine) for _ in range(dist.get_world_size())] if dist.get_rank() == 0 else None",
                ),
                ("dist.all_gather(heard, mine)", "dist.gather(mine, heard, dst=0)"),
                ("for tensor in heard]", "for tensor in heard or []]"),
            ),
        ),
        Slip(
            "The values were sorted: they belong in rank order.",
            edit=("[float(tensor) for tensor in heard]", "sorted(float(tensor) for tensor in heard)"),
        ),
        Slip(
            "The values traveled as float32, which keeps 24 significant bits: a Python float is float64.",
            edit=(", dtype=torch.float64", ""),
        ),
        Slip(
            "One broadcast for each rank: a single all-gather does it.",
            edit=(
                "    heard = [torch.empty_like(mine) for _ in range(dist.get_world_size())]\n"
                "    dist.all_gather(heard, mine)\n",
                "    heard = [mine.clone() for _ in range(dist.get_world_size())]\n"
                "    for rank, said in enumerate(heard):\n"
                "        dist.broadcast(said, src=rank)\n",
            ),
        ),
    ),
    rights=(
        Right("one tensor for all", program=gathered_into_one),
        Right("bits as integers", program=gathered_as_bits),
    ),
    promises=(
        Promise("every bit of it counts", edit=("torch.tensor([value], dtype=torch.float64)", "torch.tensor([value])")),
        Promise(
            "one all-gather",
            edit=(
                "    dist.all_gather(heard, mine)",
                "    for rank, one in enumerate(heard):\n        dist.broadcast(one.copy_(mine), rank)",
            ),
        ),
    ),
)
