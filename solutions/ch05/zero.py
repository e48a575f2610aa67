"""Model states: how many bytes a parameter takes, how ZeRO slices them over the ranks, and what it sends for that.

Standard library only. Sizes are in bytes; byte arguments are bytes per parameter.
"""

from __future__ import annotations

import math

from rankzero import checks

#: Bytes of one number by type; tf32 is a way to multiply what is stored as fp32.
NUMBER_BYTES = {"fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0}

#: Moments that an optimizer keeps for each parameter.
MOMENTS = {"adam": 2, "momentum": 1, "sgd": 0}


def state_bytes(
    compute: str = "bf16",
    gradient: str | None = None,
    optimizer: str = "adam",
    moment: str = "fp32",
    master: bool | None = None,
) -> tuple[float, float, float]:
    """Bytes per parameter of a training recipe: weights, gradients and optimizer states, for :func:`zero_memory`.

    Numbers take 4 bytes in fp32 and tf32, 2 in bf16 and fp16, 1 in fp8 and int8. The optimizer states are the moments
    and, where there is one, the fp32 master copy of the weights.

    Args:
        compute: type of the weights that the forward pass reads.
        gradient: type of the stored gradients; None is the type of the weights.
        optimizer: ``"adam"`` keeps two moments, ``"momentum"`` one, ``"sgd"`` none.
        moment: type of the moments.
        master: whether an fp32 copy is kept besides the weights. None keeps one where the weights are narrower than 4
            bytes: an fp32 weight is its own master.

    Returns:
        ``(weights, gradients, optimizer states)`` in bytes per parameter.

    Source: Rajbhandari et al. (2020), arXiv:1910.02054, section 3.1.
    """
    checks.one_of(NUMBER_BYTES, compute=compute, moment=moment)
    checks.one_of((None, *NUMBER_BYTES), gradient=gradient)
    checks.one_of(MOMENTS, optimizer=optimizer)
    checks.one_of((None, True, False), master=master)
    weights = NUMBER_BYTES[compute]
    copy = weights < 4 if master is None else master
    moments = MOMENTS[optimizer] * NUMBER_BYTES[moment]
    return weights, NUMBER_BYTES[gradient or compute], moments + (4.0 if copy else 0.0)


def zero_memory(
    params: float,
    stage: int,
    ranks: int,
    weight_bytes: float = 2.0,
    gradient_bytes: float = 2.0,
    optimizer_bytes: float = 12.0,
) -> float:
    """Bytes of model state that one rank holds.

    Stage 0 keeps everything on every rank. Stage 1 slices the optimizer states, stage 2 the gradients too, stage 3 the
    weights too. A slice is one part in ``ranks``: real division, nothing rounded or padded. Activations, buffers and
    fragmentation are not counted. Under tensor or pipeline parallelism, pass the parameters of one shard.

    Args:
        params: parameters of the model; not negative.
        stage: the integer 0, 1, 2 or 3.
        ranks: data-parallel ranks; at least 1 (one rank holds everything, whatever the stage).
        weight_bytes: bytes per weight; not negative. 2 is bf16.
        gradient_bytes: bytes per gradient; not negative.
        optimizer_bytes: bytes of optimizer state per parameter; not negative. 12 is Adam in fp32: master copy of the
            weight, first moment and second moment, 4 bytes each.

    Returns:
        Bytes on one rank (not GB, not GiB).

    Source: Rajbhandari et al. (2020), arXiv:1910.02054, sections 3 and 5.
    """
    checks.count(0, 3, stage=stage)
    checks.count(ranks=ranks)
    checks.amount(params=params, weight_bytes=weight_bytes, gradient_bytes=gradient_bytes)
    checks.amount(optimizer_bytes=optimizer_bytes)
    weights = weight_bytes / (ranks if stage >= 3 else 1)
    gradients = gradient_bytes / (ranks if stage >= 2 else 1)
    optimizer = optimizer_bytes / (ranks if stage >= 1 else 1)
    return float(params * (weights + gradients + optimizer))


def zero_traffic(
    params: float,
    stage: int,
    ranks: int,
    weight_bytes: float = 2.0,
    gradient_bytes: float = 2.0,
    micro_steps: int = 1,
    reshard: bool = True,
) -> float:
    """Bytes that one rank sends in one optimizer step, with collectives that move as little as possible.

    A reduce-scatter or an all-gather of ``S`` bytes costs a rank ``(ranks - 1) / ranks * S``. Stage 0 all-reduces the
    gradients, which is one of each. Stages 1 and 2 reduce-scatter the gradients and all-gather the updated weights;
    optimizer states never travel. Stage 3 gathers the weights for the forward pass, again for the backward pass, and
    reduce-scatters the gradients. Stages 0 and 1 accumulate whole gradients and reduce once; stages 2 and 3 keep only a
    slice, so they reduce in every micro-step, and stage 3 gathers in every micro-step too.

    Args:
        params: parameters of the model; not negative.
        stage: the integer 0, 1, 2 or 3.
        ranks: data-parallel ranks; at least 1 (one rank sends nothing).
        weight_bytes: bytes per weight on the wire; not negative.
        gradient_bytes: bytes per gradient on the wire; not negative.
        micro_steps: forward and backward passes per optimizer step; at least 1.
        reshard: stage 3 drops the gathered weights after the forward pass, and gathers again for the backward pass.
            The other stages do not use it.

    Returns:
        Bytes sent by one rank; it receives as many.

    Source: Rajbhandari et al. (2020), arXiv:1910.02054, section 7.
    """
    checks.count(0, 3, stage=stage)
    checks.count(ranks=ranks, micro_steps=micro_steps)
    checks.amount(params=params, weight_bytes=weight_bytes, gradient_bytes=gradient_bytes)
    reductions = micro_steps if stage >= 2 else 1
    if stage == 0:
        gathered = gradient_bytes
    elif stage < 3:
        gathered = weight_bytes
    else:
        gathered = micro_steps * weight_bytes * (2 if reshard else 1)
    return float((ranks - 1) / ranks * params * (reductions * gradient_bytes + gathered))


def min_ranks(
    params: float,
    stage: int,
    memory: float,
    other: float = 0.0,
    weight_bytes: float = 2.0,
    gradient_bytes: float = 2.0,
    optimizer_bytes: float = 12.0,
) -> int | None:
    """The fewest ranks on which the model states and ``other`` fit into ``memory``; None when no number is enough.

    States that fill the memory exactly fit: one part in 1e12 counts as rounding. Where
    ranks slice a part of the states and the rest alone fills the memory, no number is enough.

    Args:
        params: parameters of the model; not negative.
        stage: the integer 0, 1, 2 or 3, as in :func:`zero_memory`.
        memory: of one rank, bytes; positive.
        other: bytes that do not shrink with the ranks, such as activations; not negative.
        weight_bytes: bytes per weight; not negative.
        gradient_bytes: bytes per gradient; not negative.
        optimizer_bytes: bytes of optimizer state per parameter; not negative.

    Source: the formula of :func:`zero_memory`, solved for the ranks.
    """
    checks.count(0, 3, stage=stage)
    checks.positive(memory=memory)
    checks.amount(params=params, other=other)
    checks.amount(weight_bytes=weight_bytes, gradient_bytes=gradient_bytes, optimizer_bytes=optimizer_bytes)
    sizes = (weight_bytes, gradient_bytes, optimizer_bytes)
    everything = zero_memory(params, stage, 1, *sizes)
    if other + everything <= memory * (1 + _SLACK):
        return 1
    kept = params * sum(size for size, first in zip(sizes, (3, 2, 1), strict=True) if stage < first)
    room = memory - other - kept
    if room <= memory * _SLACK:
        return None
    ranks = math.ceil((everything - kept) / room * (1 - _SLACK))
    return ranks if stage else None


def debug_stage(params: float, stage: int, ranks: int) -> float:
    """Bytes of model state on one rank with 2-byte weights, 2-byte gradients and 12 bytes of optimizer state.

    Args:
        params: parameters of the model; not negative.
        stage: the integer 0, 1, 2 or 3; a stage slices what the stages below it slice, and one more thing.
        ranks: data-parallel ranks; at least 1.
    """
    checks.count(0, 3, stage=stage)
    checks.count(ranks=ranks)
    checks.amount(params=params)
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    return params * (weights + gradients + optimizer)


#: Relative distance below which two sums of bytes are the same.
_SLACK = 1e-12
