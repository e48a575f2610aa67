"""A training run on the back of an envelope: work, days, device-hours, cost, and the fewest devices it fits on.

python -m demos plan --parameters 70e9 --tokens 2e12 --gpu H100_SXM --count 1024 --mfu 0.4 --price 3
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero.facts import hardware
from rankzero.facts.units import PFLOP, day, hour

GPUS = {name: getattr(hardware, name) for name in ("A100_SXM", "H100_SXM", "H200_SXM", "B200_SXM")}
STATES = 16.0  # bytes of mixed-precision Adam for each parameter


def number(high: float) -> Callable[[str], float]:
    """An argparse type: a number above 0 and at most ``high``."""

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value <= high:
            raise argparse.ArgumentTypeError(f"must be a number above 0 and at most {high:g}, got {text}")
        return value

    return convert


def _picture(days: Callable[[str, int], float], gpu: str, count: int):
    from rankzero.figures import plots

    counts = sorted({2**power for power in range(16)} | {count})
    curves = {name: [(n, days(name, n)) for n in counts] for name in GPUS}
    alt = (
        f"Days against the number of devices, falling in proportion; {count:,} {gpu} take {days(gpu, count):.3g} days."
    )
    chosen = {gpu: [(count, days(gpu, count))]}
    return plots.curves(curves, chosen, x="devices", y="training time (days)", log="xy", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--parameters", type=number(1e15), default=70e9)
    options.add_argument("--tokens", type=number(1e16), default=2e12)
    options.add_argument("--gpu", choices=GPUS, default="H100_SXM")
    options.add_argument("--count", type=whole(1, 10**6), default=1024, help="devices")
    options.add_argument("--mfu", type=number(1.0), default=0.4, help="sustained share of the dense peak")
    options.add_argument("--price", type=number(1e6), default=3.0, help="USD per device-hour")
    given = options.parse_args(argv)
    names = ("training_flops_per_token", "training_time", "minimum_ranks")
    per_token, time, minimum_ranks = (part(given.code, "ch01.scale", name) for name in names)
    flops, memory = per_token(given.parameters) * given.tokens, GPUS[given.gpu].memory

    def days(name: str, count: int) -> float:
        return time(flops, count, GPUS[name].peak_bf16, given.mfu) / day

    hours = days(given.gpu, given.count) * given.count * day / hour
    fewest = minimum_ranks(given.parameters, memory)
    rows = [
        *(("work", flops, "FLOP"), ("work", flops / (PFLOP * day), "PF-days")),
        *(("time", days(given.gpu, given.count), "days"), ("device-hours", hours, "h")),
        *(("cost", hours * given.price, "USD"), ("tokens per parameter", given.tokens / given.parameters, "")),
        ("fewest devices for the states", fewest, ""),
    ]
    show(given, Table(("quantity", "value", "unit"), rows), lambda: _picture(days, given.gpu, given.count))
    fits = (fewest - 1) * memory < STATES * given.parameters <= fewest * memory * (1 + 1e-12)
    right = fits and math.isclose(days(given.gpu, 1) * day / hour, hours, rel_tol=1e-9)
    return verdict(right, "the states do not fit on one device fewer, and device-hours do not depend on the count")


if __name__ == "__main__":
    sys.exit(main())
