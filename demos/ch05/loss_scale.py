"""fp16 training on the CPU with ``torch.amp.GradScaler`` and with the course's scaler; every overflow is real.

python -m demos loss_scale --init-scale 2**24 --growth-interval 5 --steps 60
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch05.loss_scale_runs import ScaledTraining, scaled_training


def power(text: str) -> float:
    """An argparse type: a positive number that fp32 has, ``65536`` or ``2**16``."""
    base, _, exponent = text.partition("**")
    try:
        value = float(base) ** float(exponent or 1)
    except (ValueError, OverflowError, ZeroDivisionError):
        value = math.nan
    if isinstance(value, complex) or not 1e-30 <= value <= 2.0**126:
        raise argparse.ArgumentTypeError(f"must be a number from 1e-30 to 2**126, as 65536 or 2**16, got {text}")
    return value


def _picture(theirs: ScaledTraining, own: ScaledTraining):
    from rankzero.figures import plots

    skipped = [(step, own.scales[step]) for step, skip in enumerate(own.skipped) if skip]
    lines = {"GradScaler": list(enumerate(theirs.scales)), "the course's": list(enumerate(own.scales))}
    points = {"skipped steps": skipped} if skipped else {}
    alt = f"Loss scale from {own.scales[0]:g} to {own.scales[-1]:g}; {len(skipped)} steps are skipped."
    return plots.curves(lines, points, x="step", y="loss scale S", log="y", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--init-scale", type=power, default=2.0**24, metavar="S")
    options.add_argument("--growth-interval", type=whole(1, 10_000), default=5, help="clean steps before S doubles")
    options.add_argument("--steps", type=whole(1, 2000), default=60)
    asked = options.parse_args(argv)
    scaler, after = (part(asked.code, "ch05.precision", name) for name in ("LossScaler", "dynamic_loss_scale"))
    steps, rules = 12 if asked.quick else asked.steps, (asked.init_scale, asked.growth_interval)
    own = scaled_training(scaler, *rules, steps)
    theirs = scaled_training("torch", *rules, steps)
    told = after(own.skipped, init_scale=asked.init_scale, growth_interval=asked.growth_interval)
    rows = [
        (
            step,
            f"{own.scales[step]:,.12g}",
            "skipped" if own.skipped[step] else "taken",
            own.losses[step],
            theirs.losses[step],
        )
        for step in range(steps)
        if step in (0, steps - 1) or own.skipped[step] or own.scales[step] != own.scales[step - 1]
    ]
    header = ("step", "S", "optimizer's step", "loss, the course's", "loss, GradScaler")
    show(asked, Table(header, rows), lambda: _picture(theirs, own))
    print(f"{sum(own.skipped)} of {steps} steps overflowed; S is {own.scales[-1]:,.12g} at the end")
    near = all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(own.scales, theirs.scales, strict=True))
    same = all(math.isclose(a, b, rel_tol=1e-3) for a, b in zip(own.losses, theirs.losses, strict=True))
    right = near and same and own.skipped == theirs.skipped and math.isclose(told, own.scales[-1])
    return verdict(right, "both scalers skip the same steps, and dynamic_loss_scale ends where they do")


if __name__ == "__main__":
    sys.exit(main())
