"""Data parallelism on real ranks: synchronized gradients, a sharded optimizer, a sharded parameter.

    world.run(train, ranks=4)  # train calls synchronize_gradients(model.parameters(), rows) before each step

Every function is called by all ranks of a group, with tensors of the same shapes in the same order. N is its size.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.distributed as dist

from rankzero import checks

from .buckets import assign_buckets


def synchronize_gradients(
    parameters: Iterable[torch.nn.Parameter],
    count: int,
    bucket_bytes: float = 25 * 2**20,
    group: dist.ProcessGroup | None = None,
) -> int:
    """Replace every gradient by the gradient of the mean over the rows of all ranks.

    The gradient of rank r is that of a mean over its ``count`` rows, n_r; all together it is the sum of n_r / n g_r.
    Gradients travel in buckets, one all-reduce for each. Buckets are filled in the order in which backward passes end,
    so from the last parameter to the first, and a bucket is full as soon as it holds ``bucket_bytes`` or more.

    Args:
        parameters: of the model, all of one type. One that is named twice is reduced once. One that needs no gradient
            is left alone. One whose ``grad`` is None on this rank travels as zeros, in its place in a bucket, and gets
            the result too. One whose ``grad`` is None on every rank travels all the same, but stays None, as under DDP,
            and ``torch.optim`` skips it. The ranks learn this with the counts, which an all-reduce adds up. A ``grad``
            keeps its storage and type.
        count: rows of this rank, not negative; the ranks together have at least one. A rank without rows adds nothing,
            whatever its gradients hold. Divide Python numbers: the quotient of two integer tensors is rounded to fp32.
        bucket_bytes: cap of a bucket, bytes; positive.
        group: of the ranks; None is the default group.

    Returns:
        How many all-reduces carried gradients; the one that adds up the counts, and on how many ranks each parameter
        has a ``grad``, is not among them.

    Source: Li et al. (2020), arXiv:2006.15704, section 3.2.
    """
    checks.count(0, count=count)
    checks.positive(bucket_bytes=bucket_bytes)
    trainable = _trainable(parameters)[::-1]
    totals = torch.tensor([count, *(parameter.grad is not None for parameter in trainable)])
    dist.all_reduce(totals, group=group)
    rows, *holders = totals.tolist()
    gradients = [_weighted(parameter, count / rows) for parameter in trainable]
    buckets = assign_buckets([gradient.nbytes for gradient in gradients], [bucket_bytes])
    for bucket in buckets:
        members = [gradients[place] for place in bucket]
        flat = torch.cat([gradient.flatten() for gradient in members])
        dist.all_reduce(flat, group=group)
        _fill(members, flat)
    for parameter, ranks in zip(trainable, holders, strict=True):
        if not ranks:
            parameter.grad = None
    return len(buckets)


def _trainable(parameters: Iterable[torch.nn.Parameter]) -> list[torch.nn.Parameter]:
    """Each distinct parameter that asks for a gradient, once."""
    return [parameter for parameter in dict.fromkeys(parameters) if parameter.requires_grad]


def _weighted(parameter: torch.nn.Parameter, share: float) -> torch.Tensor:
    """The parameter's own ``grad``, multiplied in place by this rank's share of the rows."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad.mul_(share) if share else parameter.grad.zero_()


def _fill(tensors: Iterable[torch.Tensor], flat: torch.Tensor) -> None:
    """Copy the elements of ``flat`` into ``tensors``, in order; the rest is padding."""
    start = 0
    with torch.no_grad():
        for tensor in tensors:
            stop = start + tensor.numel()
            tensor.copy_(flat[start:stop].view_as(tensor))
            start = stop


class ShardedAdamW:
    """AdamW whose states are cut into N equal slices, one on each rank (ZeRO stage 1).

    Each rank keeps an fp32 master copy and both moments of its slice of all parameters, laid end to end and padded with
    zeros to a multiple of N. The states never travel. In a step there is one reduce-scatter, of the gradients, and one
    all-gather, of the updated weights.

    Args:
        parameters: of the model, all of one type, the same weights on every rank. Those that need no gradient stay
            as they are; P counts the others, of which there is at least one.
        lr: learning rate.
        betas: decay of the first and of the second moment.
        eps: added to the root of the second moment.
        weight_decay: in every step the weights shrink by a fraction ``lr * weight_decay``, apart from the gradient.
        group: of the ranks; None is the default group.

    Sources: Loshchilov and Hutter (2019), arXiv:1711.05101; Rajbhandari et al. (2020), arXiv:1910.02054, section 5.
    """

    def __init__(
        self,
        parameters: Iterable[torch.nn.Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        self.parameters = _trainable(parameters)
        self.lr, self.betas, self.eps, self.weight_decay, self.group = lr, betas, eps, weight_decay, group
        self.ranks, self.rank = dist.get_world_size(group), dist.get_rank(group)
        weights = _flat([parameter.detach() for parameter in self.parameters], self.ranks)
        self.master = weights.chunk(self.ranks)[self.rank].clone()  # [ceil(P / N)], fp32
        self.first, self.second = torch.zeros_like(self.master), torch.zeros_like(self.master)
        self.steps = 0

    def step(self) -> None:
        """One step, with ``grad`` averaged over all ranks.

        A ``grad`` that is None counts as zeros, also where it is None on every rank: that weight decays too, though
        ``torch.optim.AdamW`` would skip it.
        """
        zeros = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]
        gradient = torch.empty_like(self.master)
        dist.reduce_scatter(gradient, list(_flat(zeros, self.ranks).chunk(self.ranks)), group=self.group)
        self._update(gradient / self.ranks)
        mine = self.master.to(self.parameters[0].dtype)
        weights = mine.new_empty(self.ranks * mine.numel())
        dist.all_gather(list(weights.chunk(self.ranks)), mine, group=self.group)
        _fill(self.parameters, weights)

    def state_bytes(self) -> int:
        """Bytes of master copy and moments on this rank: ``12 * ceil(P / N)``."""
        return self.master.nbytes + self.first.nbytes + self.second.nbytes

    def _update(self, gradient: torch.Tensor) -> None:
        """AdamW on this rank's slice."""
        self.steps += 1
        for moment, value, beta in ((self.first, gradient, self.betas[0]), (self.second, gradient**2, self.betas[1])):
            moment.mul_(beta).add_(value, alpha=1 - beta)
        mean, square = (m / (1 - b**self.steps) for m, b in zip((self.first, self.second), self.betas, strict=True))
        self.master.mul_(1 - self.lr * self.weight_decay)
        self.master.sub_(self.lr * mean / (square.sqrt() + self.eps))


def _flat(tensors: Iterable[torch.Tensor], ranks: int) -> torch.Tensor:
    """All elements end to end in fp32, with zeros behind them so that ``ranks`` divides their number."""
    flat = torch.cat([tensor.flatten().float() for tensor in tensors])
    return torch.nn.functional.pad(flat, (0, -flat.numel() % ranks))


def reduce_to_slice(
    gradient: torch.Tensor, kept: torch.Tensor | None = None, group: dist.ProcessGroup | None = None
) -> torch.Tensor:
    """This rank's slice of the mean of all ranks' gradients, added to what it has kept (the core of ZeRO stage 2).

    One reduce-scatter: the whole gradient of a weight goes in, end to end and padded with zeros to a multiple of N, and
    a slice comes out. Whoever calls this in the backward pass can drop the whole gradient at once.

    Args:
        gradient: of the whole weight, for the rows of this rank; of any shape, the same on every rank.
        kept: the slice of earlier micro-steps, 1-D, of ``ceil(P / N)`` elements; None in the first one.
        group: of the ranks; None is the default group.

    Returns:
        The sum of ``kept`` and this rank's slice of the mean over the ranks, 1-D, of ``ceil(P / N)`` elements.

    Source: Rajbhandari et al. (2020), arXiv:1910.02054, section 5.2.
    """
    checks.require(kept is None or kept.dim() == 1, "be None or 1-D", kept=kept)
    ranks = dist.get_world_size(group)
    length = -(-gradient.numel() // ranks)
    padded = torch.nn.functional.pad(gradient.flatten(), (0, ranks * length - gradient.numel()))
    mine = padded.new_empty(length)
    dist.reduce_scatter(mine, list(padded.tensor_split(ranks)), group=group)
    mine /= ranks
    return mine if kept is None else kept + mine


def gather_parameter(shard: torch.Tensor, numel: int, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """The whole parameter from the slices of all ranks, with gradients flowing back to the slices (the core of ZeRO
    stage 3).

    Forward, one all-gather; the padding at the end is cut off. Backward, every rank has the gradient of the whole
    parameter for its own rows: it is padded and goes through one reduce-scatter, so that each rank is left with its
    slice of the *mean* over the ranks.

    Args:
        shard: this rank's slice, 1-D, of the same length on every rank; it may ask for a gradient.
        numel: elements of the whole parameter, from 0 to N times the slice's; the rest is padding.
        group: of the ranks; None is the default group.

    Returns:
        The first ``numel`` elements of all slices, 1-D.
    """
    checks.require(shard.dim() == 1, "be 1-D", shard=tuple(shard.shape))
    checks.count(0, dist.get_world_size(group) * shard.numel(), numel=numel)
    return _Gather.apply(shard, numel, group)  # type: ignore[no-any-return]


class _Gather(torch.autograd.Function):
    """All-gather, and the mean in slices on the way back."""

    @staticmethod
    def forward(ctx, shard, numel, group):  # type: ignore[override, no-untyped-def]
        ctx.length, ctx.group = shard.numel(), group
        ranks = dist.get_world_size(group)
        whole = shard.new_empty(ranks * shard.numel())
        dist.all_gather(list(whole.tensor_split(ranks)), shard.contiguous(), group=group)
        return whole[:numel]

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[override, no-untyped-def]
        ranks = dist.get_world_size(ctx.group)
        padded = torch.nn.functional.pad(gradient, (0, ranks * ctx.length - gradient.numel()))
        mine = padded.new_empty(ctx.length)
        dist.reduce_scatter(mine, list(padded.tensor_split(ranks)), group=ctx.group)
        return mine / ranks, None, None
