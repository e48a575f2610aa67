"""Chapter 6: ``vocab_parallel_embedding``, a split vocabulary."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import LOOK_UP_RULE, look_up, look_up_shapes, looked_up, table
from autograder.bank.groups import listed
from autograder.items import Build, Promise, Right, Slip

_FOUND = "functional.embedding(local, weight).masked_fill(~own[..., None], 0)"


EXERCISE = Build(
    "06 sharded_layers.vocab_parallel_embedding",
    section="6.15",
    topic="a split vocabulary",
    bonus=True,
    grade="world",
    probe="ch06.differentiated",
    rule=LOOK_UP_RULE,
    cases=(table(), look_up(Random("look up"), 3, 2, (2, 2), 2), look_up(Random("look up 1"), 1, 3, (2,), 2)),
    groups=(
        listed("two to four ranks", looked_up, "A rank contributes the rows that it owns, and zeros for all others."),
        listed("shapes", look_up_shapes, "There may be one rank, a single id, or two dimensions of them."),
    ),
    slips=(
        Slip(
            "Foreign ids were clamped into the rank's own range, and the rows found there were added: mask them first.",
            edits=(
                ("local.masked_fill(~own, 0), own", "local.clamp(0, rows - 1), own"),
                (".masked_fill(~own[..., None], 0)", ""),
            ),
        ),
        Slip(
            "For foreign ids the rank's first row was added: put zeros there.",
            edit=(".masked_fill(~own[..., None], 0)", ""),
        ),
        Slip(
            "Foreign ids were masked after the sum, which removes what their owners contributed.",
            edit=(".masked_fill(~own[..., None], 0), group)", ", group).masked_fill(~own[..., None], 0)"),
        ),
        Slip(
            "The gradient was summed too: it is complete on every rank.",
            edit=(f"reduce_from_ranks({_FOUND}, group)", f"copy_to_ranks(reduce_from_ranks({_FOUND}, group), group)"),
        ),
        Slip(
            "The sum was formed outside autograd: no gradient comes back.",
            edit=("functional.embedding(local, weight)", "functional.embedding(local, weight.detach())"),
        ),
        Slip(
            "The whole table was gathered: send only the rows that were asked for.",
            edit=(
                f"return reduce_from_ranks({_FOUND}, group)",
                "parts = [torch.empty_like(weight) for _ in range(dist.get_world_size(group))]\n"
                "    dist.all_gather(parts, weight.detach().contiguous(), group=group)\n"
                "    parts[dist.get_rank(group)] = weight\n"
                "    return torch.cat(parts)[ids]",
            ),
        ),
    ),
    rights=(
        Right(
            "multiplied by the mask",
            edit=(
                "functional.embedding(local, weight).masked_fill(~own[..., None], 0)",
                "weight[local] * own[..., None].to(weight.dtype)",
            ),
        ),
        Right(
            "a product with a one-hot matrix",
            edit=(
                "functional.embedding(local, weight).masked_fill(~own[..., None], 0)",
                "(functional.one_hot(local, weight.shape[0]) * own[..., None]).to(weight.dtype) @ weight",
            ),
        ),
    ),
    promises=(
        Promise(
            "Only the rank's own tokens add to the gradient of ``weight``.",
            edit=(
                "    return reduce_from_ranks(functional.embedding(local, weight).masked_fill(~own[..., None], 0), ",
                "    rows = functional.embedding(local, weight)\n"
                "    leaked = (rows - rows.detach()).masked_fill(own[..., None], 0)\n"
                "    return reduce_from_ranks(rows.masked_fill(~own[..., None], 0) + leaked, ",
            ),
        ),
    ),
)
