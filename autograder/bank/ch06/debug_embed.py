"""Chapter 6: ``debug_embed``, a split vocabulary."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import LOOK_UP_RULE, look_up, look_up_shapes, looked_up, table
from autograder.bank.groups import listed
from autograder.items import Case, Debug, Promise, Right, Slip


def _bare(cases: list[Case]) -> list[Case]:
    """Without the gradient that is sent back."""
    return [Case(tuple(args[:2] for args in case.args)) for case in cases]


def wrong_embed(ids, weight):
    import torch.distributed as dist

    rows = weight.shape[0]
    local = (ids - dist.get_rank() * rows).clamp(0, rows - 1)
    found = weight[local]
    dist.all_reduce(found)
    return found


EXERCISE = Debug(
    "06 sharded_layers.debug_embed",
    section="6.15",
    topic="a split vocabulary",
    bonus=True,
    grade="world",
    rule=LOOK_UP_RULE,
    wrong=wrong_embed,
    cases=(table(back=False), *_bare([look_up(Random("debug look up"), 3, 2, (2, 2), 2)])),
    groups=(
        listed(
            "two to four ranks",
            lambda rng: _bare(looked_up(rng)),
            "Each row should come from the rank that owns it, and from no other.",
        ),
        listed(
            "shapes",
            lambda rng: _bare(look_up_shapes(rng)),
            "There may be one rank, a single id, or two dimensions of them.",
        ),
    ),
    slips=(
        Slip(
            "Foreign ids are clamped into the rank's own range, and the rows found there are added: mask them first.",
            wrong_embed,
        ),
        Slip(
            "The mask comes after the sum, where it discards what the other ranks contributed.",
            edits=(
                (".masked_fill(~own[..., None], 0)", ""),
                ("return found", "return found.masked_fill(~own[..., None], 0)"),
            ),
        ),
        Slip(
            "A foreign id still finds a row of this rank, and that is added to the right one.",
            wrong_embed,
            edit=(".clamp(0, rows - 1)", " % rows"),
        ),
        Slip(
            "Foreign rows are still added, and a mean of right and wrong rows is wrong.",
            wrong_embed,
            edit=("return found", "return found / dist.get_world_size()"),
        ),
    ),
    rights=(
        Right(
            "multiplied by the mask",
            edit=("masked_fill(~own[..., None], 0)", "mul(own[..., None].to(weight.dtype))"),
        ),
        Right(
            "written into zeros",
            edit=(
                "    found = weight[local.clamp(0, rows - 1)].masked_fill(~own[..., None], 0)\n",
                "    found = weight.new_zeros(*ids.shape, weight.shape[1])\n    found[own] = weight[local[own]]\n",
            ),
        ),
    ),
    promises=(
        Promise("forward only", why="what it is not asked for"),
        Promise(
            "Unchanged afterwards.",
            edit=("    dist.all_reduce(found)\n", "    dist.all_reduce(found)\n    weight[:] = 0\n"),
        ),
    ),
)
