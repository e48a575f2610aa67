"""One model trained four ways on the same rows: alone, gradients reduced one by one, in buckets, and under DDP.

python -m demos ddp --ranks 3 --unequal --float64
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch05 import data_parallel_runs as runs


def cut(batch: int, ranks: int, unequal: bool) -> tuple[int, ...]:
    """Rows of each rank: equally many, or fewer the higher the rank."""
    if not unequal:
        return (batch // ranks,) * ranks
    counts = [1 + 2 * (batch - ranks) * (ranks - rank) // (ranks * (ranks + 1)) for rank in range(ranks)]
    return (counts[0] + batch - sum(counts), *counts[1:])


def _picture(found: dict[str, runs.Trained]):
    from rankzero.figures import plots

    points = {name: list(enumerate(run.losses)) for name, run in found.items()}
    ends = ", ".join(f"{name} {run.losses[-1]:.4f}" for name, run in found.items())
    return plots.curves(points, x="step", y="loss (nats)", alt=f"Loss of trainings on the same rows; last: {ends}.")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=3)
    options.add_argument("--steps", type=whole(1, 100), default=20)
    options.add_argument("--batch", type=whole(1, 256), default=12, help="rows of all ranks together")
    options.add_argument("--unequal", action="store_true", help="higher ranks have fewer rows")
    options.add_argument("--float64", action="store_true", help="weights and gradients in float64")
    asked = options.parse_args(argv)
    ranks, batch = asked.ranks, asked.batch
    if batch < ranks or (batch % ranks and not asked.unequal):
        options.error(f"--batch must be a multiple of --ranks, or --unequal and no less, got {batch} and {ranks}")
    counts = cut(batch, ranks, asked.unequal)
    synchronize = part(asked.code, "ch05.data_parallel", "synchronize_gradients")
    rest = (min(asked.steps, 3) if asked.quick else asked.steps, "float64" if asked.float64 else "float32")
    one_by_one = functools.partial(synchronize, bucket_bytes=1)
    found = {
        "buckets": runs.train_by_hand(counts, *rest, synchronize=synchronize),
        "one by one": runs.train_by_hand(counts, *rest, synchronize=one_by_one),
        "DDP": runs.train_with_ddp(counts, *rest),
        "plain mean": runs.train_by_hand(counts, *rest, synchronize=runs.plain_mean),
    }
    alone = runs.train_alone(batch, *rest)
    print(f"rows of the ranks: {', '.join(map(str, counts))}")
    rows = [
        (name, run.losses[-1], run.reductions, run.difference(alone), run.spread, run.seconds)
        for name, run in ({"one process": alone} | found).items()
    ]
    header = ("training", "last loss", "reductions a step", "off one process", "between ranks", "seconds")
    show(asked, Table(header, rows), lambda: _picture({"one process": alone} | found))
    near = 1e-12 if asked.float64 else 1e-4
    ways = [found[name] for name in ("buckets", "one by one", "DDP")]
    right = all(run.difference(alone) < near and run.spread < near for run in ways)
    most = max(run.difference(alone) for run in ways)
    return verdict(right, f"weights differ from one process by at most {most:.1e}, less than {near:g}")


if __name__ == "__main__":
    sys.exit(main())
