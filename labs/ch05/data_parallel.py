# Generated from solutions/ch05/data_parallel.py by make stubs. Write the bodies; names and signatures stay.
"""Data parallelism on real ranks: synchronized gradients, a sharded optimizer, a sharded parameter.

    world.run(train, ranks=4)  # train calls synchronize_gradients(model.parameters(), rows) before each step

Every function is called by all ranks of a group, with tensors of the same shapes in the same order. N is its size.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.distributed as dist

from rankzero import checks


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
    raise NotImplementedError("05-synchronize-gradients: not written yet")


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
        raise NotImplementedError("05-sharded-adam-w: not written yet")

    def step(self) -> None:
        """One step, with ``grad`` averaged over all ranks.

        A ``grad`` that is None counts as zeros, also where it is None on every rank: that weight decays too, though
        ``torch.optim.AdamW`` would skip it.
        """
        raise NotImplementedError("05-sharded-adam-w: not written yet")

    def state_bytes(self) -> int:
        """Bytes of master copy and moments on this rank: ``12 * ceil(P / N)``."""
        raise NotImplementedError("05-sharded-adam-w: not written yet")


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
    raise NotImplementedError("05-reduce-to-slice: not written yet")


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
    raise NotImplementedError("05-gather-parameter: not written yet")
