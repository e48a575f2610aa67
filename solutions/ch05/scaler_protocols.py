"""How three loss scalers in use differ: the same list of overflows gives three scales.

    final_scales([0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], init_scale=1024.0, interval=3)

Standard library only. All of them double and halve here. A flag is true when a gradient of that step was inf or nan.
"""

from __future__ import annotations

from collections.abc import Iterable

from .precision import LossScaler


class ScaleTooSmall(RuntimeError):
    """DeepSpeed's scaler ends the run when a gradient overflows at the smallest scale."""


def torch_scales(overflows: Iterable[bool], init_scale: float, interval: int) -> list[float]:
    """The scale after each step of ``torch.amp.GradScaler``: overflows halve it, ``interval`` clean steps double it."""
    scaler = LossScaler(init_scale, growth_interval=interval)
    return [scaler.update(bool(overflow)) for overflow in overflows]


def megatron_scales(
    overflows: Iterable[bool], init_scale: float, interval: int, hysteresis: int = 2, min_scale: float = 1.0
) -> list[float]:
    """The scale after each step of Megatron's ``DynamicGradScaler``.

    The first ``hysteresis - 1`` overflows since the scale last grew cost nothing; the later ones halve, down to
    ``min_scale``. Growing alone makes the credit whole again.

    Source: NVIDIA/Megatron-LM, megatron/core/optimizer/grad_scaler.py.
    """
    scale, clean, credit, scales = init_scale, 0, hysteresis, []
    for overflow in overflows:
        if overflow:
            clean, credit = 0, credit - 1
            if credit <= 0:
                scale = max(scale / 2, min_scale)
        else:
            clean += 1
            if clean == interval:
                scale, clean, credit = 2 * scale, 0, hysteresis
        scales.append(scale)
    return scales


def deepspeed_scales(
    overflows: Iterable[bool], init_scale: float, interval: int, delayed_shift: int = 1, min_scale: float = 1.0
) -> list[float]:
    """The scale after each step of DeepSpeed's ``DynamicLossScaler``.

    The scale doubles at the clean step after ``interval`` others since the start or the last overflow, and then every
    ``interval`` steps. With ``delayed_shift`` above 1 the first overflows since the scale last grew cost nothing.

    Raises:
        ScaleTooSmall: an overflow came at ``min_scale``.

    Source: deepspeedai/DeepSpeed at commit 18fd4c97, deepspeed/runtime/fp16/loss_scaler.py.
    """
    scale, clean, credit, scales = init_scale, 0, delayed_shift, []
    for step, overflow in enumerate(overflows):
        if overflow and credit == 1:
            if scale == min_scale:
                raise ScaleTooSmall(f"step {step} overflowed at the smallest scale, {min_scale:g}")
            scale, clean = max(scale / 2, min_scale), 0
        elif overflow:
            clean, credit = 0, credit - 1
        else:
            if clean and clean % interval == 0:
                scale, credit = 2 * scale, delayed_shift
            clean += 1
        scales.append(scale)
    return scales


def final_scales(overflows: Iterable[bool], init_scale: float, interval: int) -> dict[str, float]:
    """The scale after the last step under each protocol; ``init_scale`` when there is no step."""
    flags = [bool(overflow) for overflow in overflows]
    runs = {
        "torch.amp.GradScaler": torch_scales(flags, init_scale, interval),
        "Megatron, hysteresis 2": megatron_scales(flags, init_scale, interval),
        "DeepSpeed, delayed shift 1": deepspeed_scales(flags, init_scale, interval),
        "DeepSpeed, delayed shift 2": deepspeed_scales(flags, init_scale, interval, delayed_shift=2),
    }
    return {name: scales[-1] if scales else init_scale for name, scales in runs.items()}
