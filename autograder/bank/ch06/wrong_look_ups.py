"""Chapter 6: the look-up in a split vocabulary, as people get it wrong."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_lookup_clamps(ids, weight, group=None):
    import torch
    import torch.distributed as dist

    n = weight.shape[0]
    if ids.numel() and not 0 <= ids.min() <= ids.max() < n * dist.get_world_size(group):
        raise ValueError("ids")
    found = weight[(ids - dist.get_rank(group) * n).clamp(0, n - 1)]
    total = found.detach().clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, group=group)
    return found + (total - found).detach()


def slip_lookup_adds_first_row(ids, weight, group=None):
    import torch
    import torch.distributed as dist

    n = weight.shape[0]
    if ids.numel() and not 0 <= ids.min() <= ids.max() < n * dist.get_world_size(group):
        raise ValueError("ids")
    local = ids - dist.get_rank(group) * n
    found = weight[local.masked_fill((local < 0) | (local >= n), 0)]
    total = found.detach().clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, group=group)
    return found + (total - found).detach()


def slip_lookup_masks_late(ids, weight, group=None):
    import torch
    import torch.distributed as dist

    n = weight.shape[0]
    if ids.numel() and not 0 <= ids.min() <= ids.max() < n * dist.get_world_size(group):
        raise ValueError("ids")
    local = ids - dist.get_rank(group) * n
    found = weight[local.clamp(0, n - 1)]
    total = found.detach().clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, group=group)
    foreign = (local < 0) | (local >= n)
    return (found + (total - found).detach()).masked_fill(foreign[..., None], 0)


def slip_lookup_sums_gradient(ids, weight, group=None):
    import torch
    import torch.distributed as dist

    n = weight.shape[0]
    if ids.numel() and not 0 <= ids.min() <= ids.max() < n * dist.get_world_size(group):
        raise ValueError("ids")

    def summed(t):
        total = t.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    local = ids - dist.get_rank(group) * n
    foreign = (local < 0) | (local >= n)
    found = weight[local.clamp(0, n - 1)].masked_fill(foreign[..., None], 0)
    y = found + (summed(found) - found).detach()
    y.register_hook(summed)
    return y


def slip_lookup_detached(ids, weight, group=None):
    import torch
    import torch.distributed as dist

    n = weight.shape[0]
    if ids.numel() and not 0 <= ids.min() <= ids.max() < n * dist.get_world_size(group):
        raise ValueError("ids")
    local = ids - dist.get_rank(group) * n
    foreign = (local < 0) | (local >= n)
    found = weight.detach()[local.clamp(0, n - 1)].masked_fill(foreign[..., None], 0)
    found = found.contiguous(memory_format=torch.contiguous_format)
    dist.all_reduce(found, group=group)
    return found


def slip_lookup_gathers(ids, weight, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks, n = dist.get_rank(group), dist.get_world_size(group), weight.shape[0]
    if ids.numel() and not 0 <= ids.min() <= ids.max() < n * ranks:
        raise ValueError("ids")

    class Join(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = [torch.empty_like(x) for _ in range(ranks)]
            dist.all_gather(parts, x.contiguous(), group=group)
            return torch.cat(parts)

        @staticmethod
        def backward(ctx, gradient):
            return gradient.chunk(ranks)[rank].contiguous()

    return Join.apply(weight)[ids]


def slip_lookup_accepts(ids, weight, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            total = x.clone()
            if dist.get_world_size(group) > 1:
                dist.all_reduce(total, group=group)
            return total

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    share = weight.shape[0]
    local = ids - dist.get_rank(group) * share
    foreign = (local < 0) | (local >= share)
    return Sum.apply(functional.embedding(local.masked_fill(foreign, 0), weight).masked_fill(foreign[..., None], 0))


EMBEDDING = (
    Slip(
        "Foreign ids were clamped into the rank's own rows and their rows added: mask them first.", slip_lookup_clamps
    ),
    Slip("Foreign ids read the rank's first row, which is added: put zeros there.", slip_lookup_adds_first_row),
    Slip("Foreign ids were masked after the sum, which takes away what their owners gave.", slip_lookup_masks_late),
    Slip("The gradient was summed too: it is complete on every rank.", slip_lookup_sums_gradient),
    Slip("The sum was made outside of autograd: no gradient comes back.", slip_lookup_detached),
    Slip("The whole table was gathered: send the rows that were asked for.", slip_lookup_gathers),
    Slip("An id outside the vocabulary was accepted: it has to raise ValueError on every rank.", slip_lookup_accepts),
)


def wrong_embed(ids, weight):
    import torch.distributed as dist

    rows = weight.shape[0]
    local = (ids - dist.get_rank() * rows).clamp(0, rows - 1)
    found = weight[local]
    dist.all_reduce(found)
    return found


def slip_embed_masks_late(ids, weight):
    import torch.distributed as dist

    rows = weight.shape[0]
    local = ids - dist.get_rank() * rows
    found = weight[local.clamp(0, rows - 1)]
    dist.all_reduce(found)
    return found.masked_fill(((local < 0) | (local >= rows))[..., None], 0)


def slip_embed_wraps(ids, weight):
    import torch.distributed as dist

    rows = weight.shape[0]
    found = weight[(ids - dist.get_rank() * rows) % rows]
    dist.all_reduce(found)
    return found


def slip_embed_averages(ids, weight):
    import torch.distributed as dist

    rows = weight.shape[0]
    found = weight[(ids - dist.get_rank() * rows).clamp(0, rows - 1)]
    dist.all_reduce(found)
    return found / dist.get_world_size()


DEBUG_EMBED = (
    Slip(
        "Foreign ids are clamped into the rank's own rows, and these are added: mask them before the sum.", wrong_embed
    ),
    Slip("Masked after the sum, a rank throws away the rows that the others gave.", slip_embed_masks_late),
    Slip("A foreign id still finds a row of this rank, which is added to the right one.", slip_embed_wraps),
    Slip("Foreign rows are still added: a mean of right and wrong rows is wrong.", slip_embed_averages),
)
