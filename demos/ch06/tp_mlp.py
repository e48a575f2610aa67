"""An MLP split over real ranks: errors against the unsplit MLP, bytes, and the time of matrices and all-reduces.

python -m demos tp_mlp --ranks 4 --hidden 256 --batch 4 --sequence 64
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch06.mlp_runs import mlp_run
from experiments.ch06.tensor_parallel_times import Times, mlp_times
from rankzero.facts.units import ms

#: How far double precision may be off.
NEAR = 1e-9


def _picture(times: Sequence[Times]):
    from rankzero.figures import plots

    groups = {
        f"{run.ranks} ranks": {"matrices": run.compute / ms, "all-reduces": run.collectives / ms} for run in times
    }
    shares = ", ".join(f"{run.share:.0%} on {run.ranks} ranks" for run in times)
    return plots.bars(groups, y="time of a step (ms)", stacked=True, alt=f"Share of communication: {shares}.")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument(
        "--ranks", type=whole(1, 8), default=4, help="the most ranks; it times 1, 2, 4, ... up to this many"
    )
    options.add_argument("--hidden", type=whole(8, 2048), default=256)
    options.add_argument("--batch", type=whole(1, 64), default=4)
    options.add_argument("--sequence", type=whole(1, 2048), default=64)
    arguments = options.parse_args(argv)
    ranks, hidden = arguments.ranks, 32 if arguments.quick else arguments.hidden
    if hidden % ranks:
        options.error(f"--hidden must be a multiple of --ranks, {ranks}, got {hidden}")
    names = ("ColumnParallelLinear", "RowParallelLinear", "parallel_mlp")
    column, row, mlp = (part(arguments.code, "ch06.tensor_parallel", name) for name in names)
    shape = (arguments.batch, min(arguments.sequence, 16), hidden)  # the shape that is compared; timing uses all tokens
    runs = {kind: mlp_run(ranks, kind, True, shape, column, row) for kind in ("split", "gathering")}
    rows = []
    for kind, run in runs.items():
        calls = ", ".join(f"{count} {name}" for name, count in run.calls.items()) or "none"
        rows.append((kind, max(run.errors.values()), calls, round(run.bytes)))
    show_times = [] if arguments.quick else sorted({*(n for n in (1, 2, 4) if n < ranks), ranks})
    times = [mlp_times(n, hidden, arguments.batch, arguments.sequence, mlp=mlp) for n in show_times or [ranks]]
    for timed in times:
        print(f"{timed.ranks} ranks: step {timed.step / ms:.1f} ms, of it all-reduces {timed.share:.0%}")
    header = ("MLP", "largest error of all", "collectives, forward and backward", "bytes sent by a rank")
    show(arguments, Table(header, rows), lambda: _picture(times))
    right = all(run.errors and max(run.errors.values()) <= NEAR for run in runs.values())
    spare = runs["split"].bytes <= runs["gathering"].bytes and runs["split"].calls in ({}, {"all_reduce": 2})
    return verdict(right and spare, "outputs and gradients are right, with one all-reduce each way")


if __name__ == "__main__":
    sys.exit(main())
