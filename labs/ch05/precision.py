# Generated from solutions/ch05/precision.py by make stubs. Write the bodies; names and signatures stay.
"""Low-precision numbers: rounding to a format, and the loss scale that keeps small gradients from underflowing.

Standard library only. The rules of scaling are those of ``torch.amp.GradScaler``, in Python floats, with a floor added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankzero import checks

#: The largest finite float32. A :class:`LossScaler` never grows beyond it, because a real run's scale is a float32.
FLOAT32_MAX = 3.4028234663852886e38


def round_to_format(value: float, exponent_bits: int, mantissa_bits: int, infinities: bool = True) -> float:
    """The number of a binary format that is nearest to ``value``; of two that are equally near, the even one.

    The bias is ``2**(exponent_bits - 1) - 1``. A number between ``2**E`` and ``2**(E + 1)`` lies on a grid of
    ``2**(E - mantissa_bits)``, and no grid is finer than that of the smallest normal number, ``E = 1 - bias``: below it
    the subnormal numbers go down to zero in equal steps.

    Args:
        value: any float: nan stays nan, and zeros keep their sign.
        exponent_bits: from 2 to 8.
        mantissa_bits: bits after the point, from 1 to 23.
        infinities: true as in IEEE 754: the largest exponent is kept for inf and nan, the largest number is
            ``(2 - 2**-mantissa_bits) * 2**bias``, and what is rounded beyond it becomes inf. Fp16 is (5, 10), bf16
            (8, 7), tf32 (8, 10), E5M2 (5, 2). False as in E4M3FN, (4, 3): the largest exponent holds numbers too, all
            but the one with a full mantissa (nan), so the largest is
            ``(2 - 2**(1 - mantissa_bits)) * 2**(bias + 1)``; anything larger, inf included, becomes that number.

    Source: IEEE 754-2019, sections 3.4 and 4.3.1; Micikevicius et al. (2022), arXiv:2209.05433, table 1.
    """
    checks.count(2, 8, exponent_bits=exponent_bits)
    checks.count(1, 23, mantissa_bits=mantissa_bits)
    raise NotImplementedError("05-round-to-format: not written yet")


def dynamic_loss_scale(overflows: Sequence[bool], init_scale: float = 65536.0, growth_interval: int = 2000) -> float:
    """The loss scale after a sequence of training steps.

    An overflow halves the scale and restarts the count of clean steps. After ``growth_interval`` clean steps in a row
    the scale doubles, and the count restarts.

    Args:
        overflows: one flag per step, true when a gradient was inf or nan.
        init_scale: scale before the first step; positive.
        growth_interval: clean steps in a row before the scale doubles; at least 1.

    Source: Micikevicius et al. (2018), arXiv:1710.03740, section 3.2; ``torch.amp.GradScaler``.
    """
    checks.positive(init_scale=init_scale)
    checks.count(growth_interval=growth_interval)
    raise NotImplementedError("05-dynamic-loss-scale: not written yet")


def _check_factors(growth_factor: float, backoff_factor: float) -> None:
    checks.finite(growth_factor=growth_factor)
    checks.require(growth_factor > 1, "be above 1", growth_factor=growth_factor)
    checks.require(0 < backoff_factor < 1, "be in (0, 1)", backoff_factor=backoff_factor)


class LossScaler:
    """Dynamic loss scaling, one step at a time: the rule of :func:`dynamic_loss_scale`, with factors, a floor and the
    ceiling of float32, as an object with a state.

    A training step multiplies the loss (:meth:`scale_loss`), runs the backward pass, divides the gradients and looks
    for inf and nan (:meth:`unscale`), clips, takes the optimizer's step or skips it, and calls :meth:`update` last.

    Args:
        init_scale: scale before the first step; positive.
        growth_factor: finite, above 1.
        backoff_factor: between 0 and 1, both excluded.
        growth_interval: clean steps in a row before the scale grows; at least 1.
        min_scale: floor of the scale, from 0 to ``init_scale``; 0 switches it off.

    Source: ``torch.amp.GradScaler``, which has no floor.
    """

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        min_scale: float = 0.0,
    ) -> None:
        checks.positive(init_scale=init_scale)
        checks.count(growth_interval=growth_interval)
        _check_factors(growth_factor, backoff_factor)
        checks.between(0, init_scale, min_scale=min_scale)
        raise NotImplementedError("05-loss-scaler: not written yet")

    @property
    def scale(self) -> float:
        """The current scale."""
        raise NotImplementedError("05-loss-scaler: not written yet")

    @property
    def growth_tracker(self) -> int:
        """Clean steps since the last growth or overflow."""
        raise NotImplementedError("05-loss-scaler: not written yet")

    def scale_loss(self, loss: float) -> float:
        """The loss to run backward from: ``loss`` times the scale."""
        raise NotImplementedError("05-loss-scaler: not written yet")

    def unscale(self, gradients: Sequence[float]) -> tuple[list[float], bool]:
        """The gradients divided by the scale, and whether one of those passed in is inf or nan; changes no state."""
        raise NotImplementedError("05-loss-scaler: not written yet")

    def update(self, found_inf: bool) -> float:
        """End a step: back off when an overflow was found, else count and perhaps grow. Returns the new scale.

        An overflow multiplies the scale by ``backoff_factor``, but not below ``min_scale``, and restarts the count.
        After ``growth_interval`` clean steps in a row the count restarts and the scale is multiplied by
        ``growth_factor``; it stays where that would be more than the largest finite float32, about 3.4e38.

        The scale grows when the count *equals* the interval, as in torch: a count that was loaded and is already
        beyond the interval never makes it grow, until an overflow sets it back to 0.
        """
        raise NotImplementedError("05-loss-scaler: not written yet")

    def state_dict(self) -> dict[str, float]:
        """Everything that a resumed run needs, in a new dict, which later calls leave as it is.

        The keys are those of torch, ``scale``, ``growth_factor``, ``backoff_factor``, ``growth_interval`` and
        ``_growth_tracker``, and ``min_scale``.
        """
        raise NotImplementedError("05-loss-scaler: not written yet")

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Take over a state saved by :meth:`state_dict` or by torch; one without ``min_scale`` keeps the present floor.

        Args:
            state: as it was saved; its scale is not below its own ``min_scale``, if it has one.
        """
        checks.positive(scale=state["scale"])
        checks.count(growth_interval=state["growth_interval"])
        checks.count(0, _growth_tracker=state["_growth_tracker"])
        _check_factors(state["growth_factor"], state["backoff_factor"])
        checks.between(0, state["scale"], min_scale=state.get("min_scale", 0))
        raise NotImplementedError("05-loss-scaler: not written yet")


def debug_clip(gradients: Sequence[float], scale: float, max_norm: float) -> list[float]:
    """The true gradients, scaled down to a norm of ``max_norm`` if their norm is larger.

    Args:
        gradients: as backward left them, ``scale`` times the true ones.
        scale: the loss scale; positive.
        max_norm: largest norm that the true gradients may have; positive.

    Returns:
        One gradient for each that was passed in. Gradients whose norm is 0 stay 0.
    """
    checks.positive(scale=scale, max_norm=max_norm)
    norm = math.sqrt(sum(gradient * gradient for gradient in gradients))
    return [gradient * min(1, max_norm / norm) / scale for gradient in gradients]


def debug_norm(shard_norms: Sequence[float]) -> float:
    """The norm of a gradient that is cut into shards.

    Args:
        shard_norms: the norm of each shard; 0 for no shard.
    """
    return sum(shard_norms)
