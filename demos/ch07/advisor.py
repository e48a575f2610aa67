"""The layouts of a training job: which fit, which is fastest, where its time goes, and why others are not chosen.

python -m demos advisor --model LLAMA3_70B --gpus 64 --batch 1024 --sequence 4096 --explain 8,1,4,2,1,1
python -m demos advisor --parameters 34e9 --gpus 128
python -m demos advisor --parameters 1.7e12 --experts 16 --top-k 2 --gpus 2048
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from demos.typed_model import PUBLISHED, ModelChoice
from experiments.ch07.layout_search import explained, priced, search
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.units import GB
from solutions.ch07.layout import step_parts, step_time

MODEL = ModelChoice(PUBLISHED, "LLAMA3_70B")


def shape(text: str) -> Layout:
    """An argparse type: tp, cp, pp, dp and, if wanted, ep, zero and chunks: ``8,1,4,2,1,2,1``."""
    sizes = text.split(",")
    if not 4 <= len(sizes) <= 7 or not all(size.isdecimal() and int(size) for size in sizes):
        raise argparse.ArgumentTypeError(f"must be TP,CP,PP,DP[,EP[,ZERO[,CHUNKS]]], got {text}")
    tp, cp, pp, dp, ep, zero, chunks = [*map(int, sizes), 1, 1, 1][:7]
    return Layout(tp, cp, pp, dp, ep, zero, chunks)


def _picture(best: list[Layout], job: Job):
    from rankzero.figures import plots

    groups = {str(layout): step_parts(layout, job) for layout in best[:5]}
    alt = f"Step time of layouts by what it is spent on: {', '.join(groups)}."
    return plots.bars(groups, y="step time (seconds)", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    MODEL.add_to(options)
    options.add_argument("--gpus", type=whole(1, 65536), default=64)
    options.add_argument("--batch", type=whole(1, 65536), default=1024, help="sequences in a step")
    options.add_argument("--sequence", type=whole(1, 2**20), default=4096)
    options.add_argument("--memory", type=number(1e-3, 1e6), default=80.0, help="GB of one GPU")
    options.add_argument(
        "--network", type=number(1e-3, 1e6), default=50.0, help="GB/s of one GPU across nodes, one direction"
    )
    options.add_argument("--explain", type=shape, metavar="LAYOUT", help="TP,CP,PP,DP[,EP[,ZERO[,CHUNKS]]]")
    options.add_argument("--rejected", action="store_true", help="list the layouts that do not fit, and by how much")
    asked = options.parse_args(argv)
    sizes = {"gpu_memory": asked.memory * GB, "network_bandwidth": asked.network * GB}
    job = Job(MODEL.of(options, asked), asked.gpus, asked.batch, asked.sequence, **sizes)
    chosen = part(asked.code, "ch07.layout", "choose_layout")(job)
    fitting, others = priced(job)
    rows = [(str(one), seconds, memory / GB) for seconds, memory, one in fitting[:10]]
    table = Table(("layout", "step (s)", "fullest GPU (GB)"), rows)
    show(asked, table, lambda: _picture([one for *_, one in fitting or others], job))
    found = search(job)
    print(f"{found.splits} ways to split {job.gpus:,} GPUs; of these, pruned")
    print("\n".join(f"{count:>6} {rule}" for rule, count in found.pruned.items()) or "  none")
    print(f"the others make {found.layouts} layouts; {found.too_large} do not fit, {len(fitting)} do")
    listed = [one for *_, one in others] if asked.rejected else []
    print("\n".join(explained(one, job) for one in (*listed, asked.explain or chosen) if one))
    least = fitting[0][0] if fitting else 0.0
    right = bool(chosen) == bool(fitting) and (not chosen or step_time(chosen, job) <= least * (1 + 1e-6))
    return verdict(right, f"{chosen or 'no layout'} is the fastest that fits")


if __name__ == "__main__":
    sys.exit(main())
