"""What an operation costs before it computes anything: its time by tensor size, with the floor and the slope.

python -m demos dispatch_overhead --sizes 1,100,10000,1000000 --device cpu
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence

from demos.common import Table, demo, parser, show, verdict
from rankzero.facts.units import GB, us


def sizes_of(text: str) -> list[int]:
    """Sizes in order, at least two of them."""
    parts = text.split(",")
    if len(parts) < 2 or not all(part.isdecimal() and 1 <= int(part) <= 10**8 for part in parts):
        raise argparse.ArgumentTypeError(f"must be two or more whole numbers from 1 to 10^8 with commas, got {text}")
    return sorted({int(part) for part in parts})


def _picture(times: dict[int, float], device: str):
    from rankzero.figures import plots

    points = [(size, seconds / us) for size, seconds in times.items()]
    alt = f"Time of an in-place addition against the elements of its tensor, on {device}."
    return plots.curves({"x.add_(1)": points}, {"x.add_(1)": points}, x="elements", y="time (us)", log="xy", alt=alt)


def compared(layers: int, compile_too: bool) -> Table:
    """Time of one pass through small layers: eager, traced, and compiled if there is a compiler."""
    import warnings

    import torch

    from experiments.ch10 import dispatch_runs

    model, x = dispatch_runs.small_layers(layers), torch.zeros(32, 32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # traces are deprecated
        ways: dict[str, Callable[..., torch.Tensor]] = {"eager": model, "traced": torch.jit.trace(model, x)}
        if compile_too:
            ways["compiled"] = torch.compile(model)
        with torch.no_grad():
            works = [lambda way=way: [way(x) for _ in range(10)] for way in ways.values()]
            times = dispatch_runs.medians(works)
    return Table(
        ("layers", "us per layer"), [(name, t / us / 10 / layers) for name, t in zip(ways, times, strict=True)]
    )


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--sizes", type=sizes_of, default=[1, 100, 10_000, 1_000_000], help="elements of the tensor")
    options.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options.add_argument("--compile", action="store_true", help="compile the small layers too (needs a C++ compiler)")
    asked = options.parse_args(argv)
    import torch

    from experiments.ch10 import dispatch_runs

    if asked.device == "cuda" and not torch.cuda.is_available():
        options.error("--device cuda: there is no GPU here")
    if asked.compile and not shutil.which("g++"):
        options.error("--compile: there is no g++ here")
    times = {size: dispatch_runs.op_seconds(size, asked.device) for size in asked.sizes}
    table = Table(("elements", "us per operation"), [(size, seconds / us) for size, seconds in times.items()])
    show(asked, table, lambda: _picture(times, asked.device))
    floor, bandwidth = dispatch_runs.floor_and_bandwidth(times)
    print(f"floor {floor / us:.2f} µs; beyond it {bandwidth / GB:.1f} GB/s, read and written\n")
    print(compared(20 if asked.quick else 100, asked.compile))
    return verdict(all(seconds > 0 for seconds in times.values()), "every operation took some time")


if __name__ == "__main__":
    sys.exit(main())
