"""The layouts of a training job: which fit, which is fastest, what it spends its time on, and why another is not.

python -m demos.advisor --model LLAMA3_70B --gpus 64 --batch 1024 --sequence 4096 --explain 8,1,4,2,1,1
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from demos.pipeline_chart import number
from rankzero import models
from rankzero.layouts import Job, Layout
from rankzero.units import GB
from solutions.explorers_07 import priced
from solutions.layout import layout_memory, step_parts

NAMES = [name for name, value in vars(models).items() if isinstance(value, models.Model)]


def shape(text: str) -> Layout:
    """A type for argparse: tp, cp, pp, dp and, if wanted, ep, zero and chunks: ``8,1,4,2,1,2,1``."""
    sizes = text.split(",")
    if not 4 <= len(sizes) <= 7 or not all(size.isdecimal() and int(size) for size in sizes):
        raise argparse.ArgumentTypeError(f"must be TP,CP,PP,DP[,EP[,ZERO[,CHUNKS]]], got {text}")
    tp, cp, pp, dp, ep, zero, chunks = [*map(int, sizes), 1, 1, 1][:7]
    return Layout(tp, cp, pp, dp, ep, zero, chunks)


def explained(layout: Layout, job: Job) -> str:
    """One sentence: why a layout cannot be, does not fit, or how long it takes."""
    try:
        states, activations = layout_memory(layout, job)
        seconds = sum(step_parts(layout, job).values())
    except ValueError as error:
        return f"{layout}: impossible, {error}"
    fits = "fits" if states + activations <= job.gpu_memory * (1 - job.reserve) else "does not fit"
    return f"{layout}: {seconds:.3f} s; states {states / GB:.1f} GB, activations {activations / GB:.1f} GB, {fits}"


def _picture(best: list[Layout], job: Job):
    from rankzero import plots

    groups = {str(one): step_parts(one, job) for one in best[:5]}
    alt = f"Step time of layouts by what it is spent on: {', '.join(groups)}."
    return plots.bars(groups, y="step time (seconds)", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--model", choices=NAMES, default="LLAMA3_70B", metavar="NAME", help="as in rankzero.models")
    options.add_argument("--gpus", type=whole(1, 65536), default=64)
    options.add_argument("--batch", type=whole(1, 65536), default=1024, help="sequences in a step")
    options.add_argument("--sequence", type=whole(1, 2**20), default=4096)
    options.add_argument("--memory", type=number, default=80.0, help="GB of one GPU")
    options.add_argument("--network", type=number, default=50.0, help="GB/s of one GPU across nodes, one direction")
    options.add_argument("--explain", type=shape, metavar="LAYOUT", help="TP,CP,PP,DP[,EP[,ZERO[,CHUNKS]]]")
    asked = options.parse_args(argv)
    if not asked.memory or not asked.network:
        options.error("--memory and --network must be positive")
    sizes = {"gpu_memory": asked.memory * GB, "network_bandwidth": asked.network * GB}
    job = Job(getattr(models, asked.model), asked.gpus, asked.batch, asked.sequence, **sizes)
    chosen = part(asked.code, "layout", "choose_layout")(job)
    fitting, others = priced(job)
    rows = [(str(one), seconds, memory / GB) for seconds, memory, one in fitting[:10]]
    table = Table(("layout", "step (s)", "fullest GPU (GB)"), rows)
    show(asked, table, lambda: _picture([one for *_, one in fitting or others], job))
    print(f"{len(fitting)} of {len(fitting) + len(others)} layouts fit")
    print("\n".join(explained(one, job) for one in (asked.explain or chosen,) if one))
    least = fitting[0][0] if fitting else 0.0
    time = sum(step_parts(chosen, job).values()) if chosen else 0.0
    right = bool(chosen) == bool(fitting) and time <= least * (1 + 1e-6)
    return verdict(right, f"{chosen or 'no layout'} is the fastest that fits")


if __name__ == "__main__":
    sys.exit(main())
