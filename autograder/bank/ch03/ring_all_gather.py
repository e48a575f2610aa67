"""Chapter 3: ``ring_all_gather``, ring all-gather."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch03.shared import EMPTY, gathered_leftwards, passed_on
from autograder.bank.groups import listed
from autograder.bank.vectors import vector
from autograder.items import Build, Case, Promise, Right, Slip, Tensor


def _parts(rng: Random, sizes: list[int]) -> Case:
    """Parts of these sizes."""
    return Case(args=tuple((vector(rng, size), sizes) for size in sizes))


def _gathered_of_each(rng: Random) -> list[Case]:
    return [_parts(rng, rng.sample(range(1, 20), ranks)) for ranks in (4, 3, 2)]


def _equal_and_empty(rng: Random) -> list[Case]:
    return [_parts(rng, sizes) for sizes in ([5], [3, 3, 3, 3], [0, 0, 0], [0, 4, 0, 0])]


def gathered_into_views(x, sizes):
    """The parts arrive where they belong in the whole."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    whole = torch.zeros(sum(sizes), dtype=x.dtype)
    parts = whole.split(list(sizes))
    parts[rank].copy_(x)
    for step in range(ranks - 1):
        passed_on(parts[rank - step], parts[rank - step - 1], (rank + 1) % ranks, (rank - 1) % ranks)
    return whole


EXERCISE = Build(
    "03 collectives.ring_all_gather",
    section="3.7",
    topic="ring all-gather",
    grade="world",
    probe="ch02.written_over",
    rule=rules.every(
        rules.only_messages,
        rules.to_one_neighbour,
        rules.all_gather_ledger,
        rules.no_empty_messages,
        least_received.heard(rules.other_parts),
    ),
    cases=(
        Case(args=tuple((Tensor.of([r + 1.0]), [1, 1, 1, 1]) for r in range(4))),
        Case(args=tuple((Tensor.of([float(r)] * r), [0, 1, 2]) for r in range(3))),
        Case(args=((Tensor.of([0.0]), [1, 2, 0]), (Tensor.of([1.0, 1.0]), [1, 2, 0]), (Tensor.of([]), [1, 2, 0]))),
    ),
    groups=(
        listed("unequal parts", _gathered_of_each, "Parts may have different lengths."),
        listed("equal or empty", _equal_and_empty, "There may be one rank, equal parts, or empty parts."),
    ),
    slips=(
        Slip(
            "Every step sent the rank's own part: pass on what arrived last.",
            edit=(
                "_pass_right(parts[(rank - step) % ranks], ",
                "parts[(rank - step - 1) % ranks] = x.new_empty(sizes[(rank - 1) % ranks])\n        _pass_right(x, ",
            ),
        ),
        Slip(
            "The parts are in the order in which they arrived: put each at the place of its rank.",
            edit=("torch.cat(parts)", "torch.cat([parts[(rank - step) % ranks] for step in range(ranks)])"),
        ),
        Slip(
            "Every buffer has the size of this rank's own part: `sizes` says how long each part is.",
            edit=("[x.new_empty(size) for size in sizes]", "[x.clone() for _ in sizes]"),
        ),
    ),
    rights=(
        Right("views of the whole", program=gathered_into_views),
        Right("the other way round", program=gathered_leftwards),
    ),
    promises=(
        Promise(
            "Only messages are used.",
            edit=("    return torch.cat(parts)", "    dist.barrier()\n    return torch.cat(parts)"),
        ),
        Promise("empty parts are not sent.", edits=EMPTY),
        Promise(
            "unchanged afterwards.", edit=("    return torch.cat(parts)", "    x.zero_()\n    return torch.cat(parts)")
        ),
        Promise(
            "1-D of ``sum(sizes)`` elements, a new tensor.",
            edit=("    return torch.cat(parts)", "    return torch.cat(parts) if ranks > 1 else x"),
        ),
    ),
)
