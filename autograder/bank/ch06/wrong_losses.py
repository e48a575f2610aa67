"""Chapter 6: the loss over a split vocabulary, as people get it wrong."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_loss_local_maximum(logits, target, group=None):
    import torch
    import torch.distributed as dist

    rank, n = dist.get_rank(group), logits.shape[-1]
    if target.numel() and not 0 <= target.min() <= target.max() < n * dist.get_world_size(group):
        raise ValueError("target")
    local = target - rank * n
    own = (local >= 0) & (local < n)
    local = local.masked_fill(~own, 0)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            shifted = logits - logits.amax(-1, keepdim=True)
            total = shifted.exp().sum(-1)
            dist.all_reduce(total, group=group)
            mine = shifted.gather(-1, local[..., None])[..., 0].masked_fill(~own, 0)
            dist.all_reduce(mine, group=group)
            ctx.probabilities = shifted.exp() / total[..., None]
            return total.log() - mine

        @staticmethod
        def backward(ctx, gradient):
            one_hot = torch.zeros_like(ctx.probabilities).scatter(-1, local[..., None], own[..., None].to(gradient))
            return (ctx.probabilities - one_hot) * gradient[..., None]

    return Loss.apply(logits)


def slip_loss_no_maximum(logits, target, group=None):
    import torch
    import torch.distributed as dist

    rank, n = dist.get_rank(group), logits.shape[-1]
    if target.numel() and not 0 <= target.min() <= target.max() < n * dist.get_world_size(group):
        raise ValueError("target")
    local = target - rank * n
    own = (local >= 0) & (local < n)
    local = local.masked_fill(~own, 0)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            total = logits.exp().sum(-1)
            dist.all_reduce(total, group=group)
            mine = logits.gather(-1, local[..., None])[..., 0].masked_fill(~own, 0)
            dist.all_reduce(mine, group=group)
            ctx.probabilities = logits.exp() / total[..., None]
            return total.log() - mine

        @staticmethod
        def backward(ctx, gradient):
            one_hot = torch.zeros_like(ctx.probabilities).scatter(-1, local[..., None], own[..., None].to(gradient))
            return (ctx.probabilities - one_hot) * gradient[..., None]

    return Loss.apply(logits)


def slip_loss_unmasked(logits, target, group=None):
    import torch
    import torch.distributed as dist

    rank, n = dist.get_rank(group), logits.shape[-1]
    if target.numel() and not 0 <= target.min() <= target.max() < n * dist.get_world_size(group):
        raise ValueError("target")
    local = target - rank * n
    own = (local >= 0) & (local < n)
    local = local.masked_fill(~own, 0)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            largest = logits.amax(-1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            shifted = logits - largest[..., None]
            total = shifted.exp().sum(-1)
            dist.all_reduce(total, group=group)
            mine = shifted.gather(-1, local[..., None])[..., 0].clone()
            dist.all_reduce(mine, group=group)
            ctx.probabilities = shifted.exp() / total[..., None]
            return total.log() - mine

        @staticmethod
        def backward(ctx, gradient):
            one_hot = torch.zeros_like(ctx.probabilities).scatter(-1, local[..., None], own[..., None].to(gradient))
            return (ctx.probabilities - one_hot) * gradient[..., None]

    return Loss.apply(logits)


def slip_loss_no_one_hot(logits, target, group=None):
    import torch
    import torch.distributed as dist

    rank, n = dist.get_rank(group), logits.shape[-1]
    if target.numel() and not 0 <= target.min() <= target.max() < n * dist.get_world_size(group):
        raise ValueError("target")
    local = target - rank * n
    own = (local >= 0) & (local < n)
    local = local.masked_fill(~own, 0)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            largest = logits.amax(-1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            shifted = logits - largest[..., None]
            total = shifted.exp().sum(-1)
            dist.all_reduce(total, group=group)
            mine = shifted.gather(-1, local[..., None])[..., 0].masked_fill(~own, 0)
            dist.all_reduce(mine, group=group)
            ctx.probabilities = shifted.exp() / total[..., None]
            return total.log() - mine

        @staticmethod
        def backward(ctx, gradient):
            return ctx.probabilities * gradient[..., None]

    return Loss.apply(logits)


def slip_loss_one_hot_everywhere(logits, target, group=None):
    import torch
    import torch.distributed as dist

    rank, n = dist.get_rank(group), logits.shape[-1]
    if target.numel() and not 0 <= target.min() <= target.max() < n * dist.get_world_size(group):
        raise ValueError("target")
    local = target - rank * n
    own = (local >= 0) & (local < n)
    local = local.masked_fill(~own, 0)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            largest = logits.amax(-1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            shifted = logits - largest[..., None]
            total = shifted.exp().sum(-1)
            dist.all_reduce(total, group=group)
            mine = shifted.gather(-1, local[..., None])[..., 0].masked_fill(~own, 0)
            dist.all_reduce(mine, group=group)
            ctx.probabilities = shifted.exp() / total[..., None]
            return total.log() - mine

        @staticmethod
        def backward(ctx, gradient):
            one_hot = torch.zeros_like(ctx.probabilities).scatter(-1, local[..., None], 1.0)
            return (ctx.probabilities - one_hot) * gradient[..., None]

    return Loss.apply(logits)


def slip_loss_mean(logits, target, group=None):
    import torch
    import torch.distributed as dist

    rank, n = dist.get_rank(group), logits.shape[-1]
    if target.numel() and not 0 <= target.min() <= target.max() < n * dist.get_world_size(group):
        raise ValueError("target")
    local = target - rank * n
    own = (local >= 0) & (local < n)
    local = local.masked_fill(~own, 0)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            largest = logits.amax(-1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            shifted = logits - largest[..., None]
            total = shifted.exp().sum(-1)
            dist.all_reduce(total, group=group)
            mine = shifted.gather(-1, local[..., None])[..., 0].masked_fill(~own, 0)
            dist.all_reduce(mine, group=group)
            ctx.probabilities = shifted.exp() / total[..., None]
            return total.log() - mine

        @staticmethod
        def backward(ctx, gradient):
            one_hot = torch.zeros_like(ctx.probabilities).scatter(-1, local[..., None], own[..., None].to(gradient))
            return (ctx.probabilities - one_hot) * gradient[..., None]

    loss = Loss.apply(logits)
    return loss.mean().expand_as(loss)


def slip_loss_gathers(logits, target, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks, n = dist.get_rank(group), dist.get_world_size(group), logits.shape[-1]
    if target.numel() and not 0 <= target.min() <= target.max() < n * ranks:
        raise ValueError("target")

    class Join(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = [torch.empty_like(x) for _ in range(ranks)]
            dist.all_gather(parts, x.contiguous(), group=group)
            return torch.cat(parts, -1)

        @staticmethod
        def backward(ctx, gradient):
            return gradient.chunk(ranks, -1)[rank].contiguous()

    whole = Join.apply(logits)
    loss = torch.nn.functional.cross_entropy(whole.reshape(-1, n * ranks), target.reshape(-1), reduction="none")
    return loss.reshape(target.shape)


def slip_loss_unchecked(logits, target, group=None):
    import torch
    import torch.distributed as dist

    rank, n = dist.get_rank(group), logits.shape[-1]
    local = target - rank * n
    own = (local >= 0) & (local < n)
    local = local.masked_fill(~own, 0)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            largest = logits.amax(-1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            shifted = logits - largest[..., None]
            total = shifted.exp().sum(-1)
            dist.all_reduce(total, group=group)
            mine = shifted.gather(-1, local[..., None])[..., 0].masked_fill(~own, 0)
            dist.all_reduce(mine, group=group)
            ctx.probabilities = shifted.exp() / total[..., None]
            return total.log() - mine

        @staticmethod
        def backward(ctx, gradient):
            one_hot = torch.zeros_like(ctx.probabilities).scatter(-1, local[..., None], own[..., None].to(gradient))
            return (ctx.probabilities - one_hot) * gradient[..., None]

    return Loss.apply(logits)


CROSS_ENTROPY = (
    Slip("Each rank took its own maximum: exponentials of different scales were added.", slip_loss_local_maximum),
    Slip("No maximum was taken off: the exponentials overflow.", slip_loss_no_maximum),
    Slip("A rank that does not own the target added a logit of its own: mask foreign targets.", slip_loss_unmasked),
    Slip("The gradient lacks the one-hot of the target on the rank that owns it.", slip_loss_no_one_hot),
    Slip(
        "Every rank took a one-hot off its gradient: only the owner of the target does.", slip_loss_one_hot_everywhere
    ),
    Slip("The losses were averaged: return one for each token.", slip_loss_mean),
    Slip("The logits were gathered: three numbers for each token are enough.", slip_loss_gathers),
    Slip("A target outside the vocabulary must raise ValueError on every rank.", slip_loss_unchecked),
)
