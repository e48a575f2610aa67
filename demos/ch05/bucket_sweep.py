"""Reductions and seconds of a step against the cap of a bucket: by hand after the backward pass, by DDP during it.

python -m demos bucket_sweep --ranks 2 --layers 40 --caps 4096,1048576,67108864
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.ch05.gradient_sync import wholes
from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch05.ddp_buckets import Sweep, bucket_sweep, layers_of
from rankzero.units import KiB, MiB, ms


def _picture(sweep: Sequence[Sweep]):
    from rankzero import plots

    ways = {"by hand, after backward": 0, "DDP, during backward": 1}
    lines = {name: [(run.cap, run.seconds[way] / ms) for run in sweep] for name, way in ways.items()}
    lines["backward alone"] = [(run.cap, run.backward / ms) for run in sweep]
    counts = ", ".join(f"{run.reductions[0]} with {run.cap:,} B" for run in sweep)
    return plots.curves(lines, lines, x="cap of a bucket (B)", y="time (ms)", log="xy", alt=f"Reductions: {counts}.")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=2)
    options.add_argument("--layers", type=whole(1, 200), default=40)
    options.add_argument("--layer-bytes", type=whole(4, 16 * MiB), default=64 * KiB, help="of the weights of each")
    options.add_argument("--caps", type=wholes(1, 2**30), default=[4 * KiB, 256 * KiB, MiB, 64 * MiB], metavar="BYTES")
    options.add_argument("--rows", type=whole(1, 4096), default=32, help="of the batch of a rank")
    asked = options.parse_args(argv)
    synchronize = part(asked.code, "ch05.data_parallel", "synchronize_gradients")
    assign = part(asked.code, "ch05.buckets", "assign_buckets")
    layers, caps = (4, asked.caps[-2:]) if asked.quick else (asked.layers, asked.caps)
    steps = 1 if asked.quick else 3
    sweep = bucket_sweep(caps, layers, asked.layer_bytes, asked.ranks, steps, asked.rows, synchronize=synchronize)
    size = next(layers_of(1, asked.layer_bytes).parameters()).nbytes
    planned = [len(assign([size] * layers, [cap])) for cap in caps]
    rows = []
    for run, plan in zip(sweep, planned, strict=True):
        left = [seconds - run.backward for seconds in run.seconds]
        shares = [part_of / run.backward for part_of in left]
        rows.append((run.cap, plan, *run.reductions, run.backward / ms, *(s / ms for s in left), *shares))
    print(f"{layers} gradients of {size:,} B on {asked.ranks} ranks; what is left is behind the backward pass")
    named = ("planned", "by hand", "DDP", "backward (ms)", "left, by hand (ms)", "left, DDP (ms)")
    header = ("cap (B)", *named, "left/backward, by hand", "left/backward, DDP")
    show(asked, Table(header, rows), lambda: _picture(sweep))
    right = all(run.reductions == (plan, plan) for run, plan in zip(sweep, planned, strict=True))
    return verdict(right, "both send as many buckets as assign_buckets plans")


if __name__ == "__main__":
    sys.exit(main())
