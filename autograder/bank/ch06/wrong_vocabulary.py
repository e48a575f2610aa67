"""Chapter 6: the loss and the look-up of a split vocabulary, as people get them wrong."""

from __future__ import annotations

from autograder.items import Slip

CROSS_ENTROPY = (
    Slip(
        "Each rank used its own maximum, so exponentials of different scales were added.",
        edit=("_reduced(exact.amax(-1), dist.ReduceOp.MAX, group)", "exact.amax(-1)"),
    ),
    Slip(
        "The maximum was not subtracted: the exponentials overflow.",
        edits=(
            ("        largest = _reduced(exact.amax(-1), dist.ReduceOp.MAX, group)", ""),
            ("exact - largest[..., None]", "exact"),
        ),
    ),
    Slip(
        "A rank that does not own the target added one of its own logits: mask foreign targets.",
        edit=(".squeeze(-1).masked_fill(~own, 0)", ".squeeze(-1)"),
    ),
    Slip(
        "On the rank that owns the target, the gradient lacks the minus 1.",
        edit=("((probabilities - one_hot) *", "(probabilities *"),
    ),
    Slip(
        "Every rank subtracted 1 somewhere in its gradient: only the owner of the target should.",
        edit=("own[..., None].to(probabilities)", "1.0"),
    ),
    Slip(
        "The losses were averaged: return one for each token.",
        edit=(
            "return _CrossEntropy.apply(logits, *_own_ids(target, logits.shape[-1], group), group)",
            "losses = _CrossEntropy.apply(logits, *_own_ids(target, logits.shape[-1], group), group)\n"
            "    return losses.mean().expand_as(losses)",
        ),
    ),
    Slip(
        "The logits were gathered: three numbers for each token are enough.",
        edit=(
            "return _CrossEntropy.apply(logits, *_own_ids(target, logits.shape[-1], group), group)",
            "parts = [torch.empty_like(logits) for _ in range(dist.get_world_size(group))]\n"
            "    dist.all_gather(parts, logits.detach().contiguous(), group=group)\n"
            "    parts[dist.get_rank(group)] = logits\n"
            "    whole = torch.cat(parts, -1).reshape(target.numel(), -1)\n"
            '    return functional.cross_entropy(whole, target.flatten(), reduction="none").view_as(target)',
        ),
    ),
)

_FOUND = "functional.embedding(local, weight).masked_fill(~own[..., None], 0)"

EMBEDDING = (
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
)


def wrong_embed(ids, weight):
    import torch.distributed as dist

    rows = weight.shape[0]
    local = (ids - dist.get_rank() * rows).clamp(0, rows - 1)
    found = weight[local]
    dist.all_reduce(found)
    return found


DEBUG_EMBED = (
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
)
