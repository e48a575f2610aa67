# Generated from solutions/ch05/batching.py by make stubs. Write the bodies; names and signatures stay.
"""Batch sizes: a batch from its parts, micro-steps per batch, the learning rate for a batch size, the largest useful
batch, and stale gradients.

Standard library only. Times are in seconds; batches are counts of sequences (or of tokens, in one unit throughout).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankzero import checks


def effective_batch(micro_batch: int, micro_steps: int, gpus: int, gpus_per_replica: int = 1) -> int:
    """Rows of one optimizer step, over all GPUs.

    Args:
        micro_batch: rows of one forward and backward pass of a replica; at least 1.
        micro_steps: such passes in one optimizer step; at least 1.
        gpus: of the whole run; at least 1.
        gpus_per_replica: GPUs that share one replica of the model, and work on the same rows; at least 1, and it
            divides ``gpus``.
    """
    checks.count(micro_batch=micro_batch, micro_steps=micro_steps, gpus=gpus, gpus_per_replica=gpus_per_replica)
    checks.require(gpus % gpus_per_replica == 0, f"divide gpus = {gpus}", gpus_per_replica=gpus_per_replica)
    raise NotImplementedError("05-effective-batch: not written yet")


def accumulation_steps(global_batch: int, micro_batch: int, data_parallel: int) -> int:
    """Micro-steps of one optimizer step: ``global_batch = micro_batch * steps * data_parallel``.

    Args:
        global_batch: sequences of one optimizer step, over all ranks; at least 1.
        micro_batch: sequences of one forward and backward pass on one rank; at least 1.
        data_parallel: data-parallel ranks; at least 1.

    Raises:
        ValueError: ``micro_batch * data_parallel`` does not divide ``global_batch``, so that sequences are left over.
    """
    checks.count(global_batch=global_batch, micro_batch=micro_batch, data_parallel=data_parallel)
    raise NotImplementedError("05-accumulation-steps: not written yet")


def accumulated_step_time(
    micro_steps: int, micro_time: float, sync_time: float, update_time: float = 0.0, sync_every: bool = False
) -> float:
    """Seconds of one optimizer step of several micro-steps, when communication overlaps with nothing.

    Args:
        micro_steps: forward and backward passes; at least 1.
        micro_time: of one pass, seconds; not negative.
        sync_time: of one reduction of all gradients, seconds; not negative.
        update_time: of the optimizer, once, seconds; not negative.
        sync_every: reduce after every micro-step, as DDP does outside ``no_sync()``; else once, at the end.
    """
    checks.count(micro_steps=micro_steps)
    checks.amount(micro_time=micro_time, sync_time=sync_time, update_time=update_time)
    raise NotImplementedError("05-accumulated-step-time: not written yet")


def scaled_learning_rate(
    base: float, base_batch: float, batch: float, rule: str, noise_scale: float | None = None
) -> float:
    """The learning rate for another batch size.

    ``linear`` multiplies by ``batch / base_batch`` (SGD), ``sqrt`` by its square root (Adam). ``noise`` takes the curve
    ``lr(B) = lr_max / (1 + noise_scale / B)`` that passes through ``base`` at ``base_batch``: it is linear for batches
    far below the noise scale, and flat far above it.

    Args:
        base: learning rate that is right for ``base_batch``; positive.
        base_batch: the batch size of ``base``; positive.
        batch: the batch size to convert to, in the same unit; positive.
        rule: ``"linear"``, ``"sqrt"`` or ``"noise"``.
        noise_scale: for the rule ``noise``, which needs one, in the unit of the batch; positive. The other rules do not
            use it.

    Source: Goyal et al. (2017), arXiv:1706.02677; Malladi et al. (2022), arXiv:2205.10287; McCandlish et al. (2018),
    arXiv:1812.06162, equation 2.6.
    """
    checks.one_of(("linear", "sqrt", "noise"), rule=rule)
    checks.positive(base=base, base_batch=base_batch, batch=batch)
    if rule == "noise" or noise_scale is not None:
        checks.positive(noise_scale=noise_scale)
    raise NotImplementedError("05-scaled-learning-rate: not written yet")


def learning_rate_at(step: int, peak: float, warmup: int, total: int, minimum: float = 0.0) -> float:
    """The learning rate of one step: a linear warm-up, then half a cosine down to ``minimum``.

    Args:
        step: counted from 1; it may lie beyond ``total``.
        peak: the learning rate at step ``warmup``; positive.
        warmup: steps of the warm-up, in which the rate is ``peak * step / warmup``; from 0 (no warm-up) to ``total``.
        total: the step at which ``minimum`` is reached (a step later, where the warm-up lasts until then), at least 1;
            later steps keep it.
        minimum: from 0 to ``peak``.

    Source: Loshchilov and Hutter (2017), arXiv:1608.03983; the schedule of Llama 3 405B, arXiv:2407.21783, section 3.4.
    """
    checks.count(step=step, total=total)
    checks.count(0, total, warmup=warmup)
    checks.positive(peak=peak)
    checks.between(0, peak, minimum=minimum)
    raise NotImplementedError("05-learning-rate-at: not written yet")


def gradient_noise_scale(
    small_batch: float, large_batch: float, small_norm_squared: float, large_norm_squared: float
) -> float:
    """The batch size at which noise and signal of the gradient are equal, from gradients of two batch sizes.

    The squared norm of a gradient over ``B`` rows is ``G + S / B`` on average, with ``G`` the squared norm of the true
    gradient and ``S`` the variance of one row's gradient. Gradients of two batch sizes give unbiased estimates of both,
    and the noise scale is ``S / G``. Data-parallel training has both at hand: each rank's own gradient, and the reduced
    one.

    Args:
        small_batch: rows of one rank; positive.
        large_batch: rows of all ranks; positive, more than ``small_batch``.
        small_norm_squared: mean of the squared norms of the ranks' own gradients; not negative.
        large_norm_squared: squared norm of the gradient over all rows; not negative.

    Returns:
        ``max(S, 0) / G`` in rows; inf where the estimate of ``G`` is not positive.

    Source: McCandlish et al. (2018), arXiv:1812.06162, appendix A.1.
    """
    checks.positive(small_batch=small_batch, large_batch=large_batch)
    checks.amount(small_norm_squared=small_norm_squared, large_norm_squared=large_norm_squared)
    checks.require(large_batch > small_batch, f"be more than small_batch = {small_batch!r}", large_batch=large_batch)
    raise NotImplementedError("05-gradient-noise-scale: not written yet")


def delayed_sgd(curvature: float, learning_rate: float, delay: int, steps: int, start: float = 1.0) -> list[float]:
    """The path of SGD on ``curvature * x**2 / 2`` when every gradient is ``delay`` updates old.

    ``x[t + 1] = x[t] - learning_rate * curvature * x[max(0, t - delay)]``: until the first delayed gradient arrives,
    the gradient at the start is used.

    Args:
        curvature: second derivative; positive.
        learning_rate: not negative.
        delay: updates between computing a gradient and using it; not negative, 0 is plain SGD.
        steps: updates; not negative.
        start: ``x[0]``; finite.

    Returns:
        ``x[0]`` to ``x[steps]``.

    Source: Levin and May (1976), Theoretical Population Biology 9, for the learning rates at which it converges.
    """
    checks.positive(curvature=curvature)
    checks.amount(learning_rate=learning_rate)
    checks.count(0, delay=delay, steps=steps)
    checks.finite(start=start)
    raise NotImplementedError("05-delayed-sgd: not written yet")


def largest_stable_rate(delay: int, curvature: float = 1.0) -> float:
    """The learning rate below which :func:`delayed_sgd` converges: ``2 sin(pi / (2 (2 delay + 1))) / curvature``.

    At this rate a root of ``z**(delay + 1) - z**delay + learning_rate * curvature`` reaches the unit circle.
    """
    return 2 * math.sin(math.pi / (2 * (2 * delay + 1))) / curvature


def debug_loss(losses: Sequence[float], tokens: Sequence[int]) -> float:
    """The mean loss of a token, from the mean losses of several micro-batches or ranks.

    Args:
        losses: the mean loss of a token in each of them.
        tokens: how many tokens each mean is taken over; not negative, and not all 0. Without any token there is no
            mean; 0 would look like a perfect model.
    """
    checks.count(0, tokens=tokens)
    checks.require(sum(tokens) > 0, "not all be 0", tokens=tokens)
    return sum(losses) / len(losses)
