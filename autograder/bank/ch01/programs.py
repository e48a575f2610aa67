"""Chapter 01: the first program on real ranks, a build item, and one buffer where there should be many, to fix."""

from __future__ import annotations

from random import Random

from autograder.bank import least, rules
from autograder.bank.groups import listed
from autograder.items import Build, Case, Debug, Group, Slip


def values(*numbers: float) -> Case:
    """One number for each rank."""
    return Case(args=tuple((float(number),) for number in numbers))


# --- roll_call


def _said(rng: Random, ranks: int = 0) -> Case:
    """Decreasing numbers of both signs: no two equal, none of them a float32."""
    numbers = sorted((rng.uniform(-1000, 1000) for _ in range(ranks or rng.randint(2, 4))), reverse=True)
    return values(*numbers)


def _large_and_equal(rng: Random) -> list[Case]:
    """Numbers out of the range of float32, equal ones, and one rank."""
    same = rng.uniform(-9, 9)
    return [
        values(1e300, -1e300, rng.uniform(1, 9)),
        values(same, same + 1, same, -same),
        values(rng.uniform(-9, 9)),
        values(0.1, 1e-300),
    ]


ROLL_CALL = Build(
    id="01-roll-call",
    module="first_program",
    function="roll_call",
    grade="world",
    section="1.5",
    topic="all-gather",
    tolerance=0.0,
    cases=(values(0, 10, 20, 30), values(7.5), values(0.1, -0.2)),
    groups=(
        listed(
            "numbers of both signs",
            lambda rng: [_said(rng, ranks) for ranks in (4, 3, 2)],
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
            "The values were sorted: they stand in rank order.",
            edit=("[float(tensor) for tensor in heard]", "sorted(float(tensor) for tensor in heard)"),
        ),
        Slip(
            "The values travelled as float32, which holds 24 bits: a Python float is float64.",
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
    rule=rules.every(rules.frugal(1, 8, "one all-gather, of 8 bytes from each rank, is enough"), least.from_each(8)),
)


# --- debug_gather


def wrong_gather(value):
    import torch
    import torch.distributed as dist

    heard = [torch.zeros(1)] * dist.get_world_size()
    dist.all_gather(heard, torch.tensor([value]))
    return [float(tensor) for tensor in heard]


def _quarters(rng: Random, ranks: int = 0) -> Case:
    """Different multiples of a quarter, which float32 holds exactly; the last is not the first."""
    return values(*(number / 4 for number in rng.sample(range(-400, 400), ranks or rng.randint(2, 4))))


DEBUG_GATHER = Debug(
    id="01-debug-gather",
    module="first_program",
    function="debug_gather",
    grade="world",
    section="1.5",
    topic="buffers of the caller",
    tolerance=1e-5,
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
            "All entries are one tensor, which holds what came last; to copy it afterwards is too late.", wrong_gather
        ),
        Slip(
            "One entry has a buffer of its own and the others still share one.",
            program=wrong_gather,
            edit=("    dist.all_gather(", "    heard[dist.get_rank()] = torch.zeros(1)\n    dist.all_gather("),
        ),
    ),
    rule=least.from_each(4),
    wrong=wrong_gather,
)

ITEMS = (ROLL_CALL, DEBUG_GATHER)
