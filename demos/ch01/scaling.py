"""Data-parallel training of the tiny model on real ranks: step times, efficiency, and the share of communication.

python -m demos scaling --ranks 1,2,4
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict
from experiments.ch01.scaling_runs import CONFIG, Measured, scaling_runs
from rankzero.tiny import GPTConfig
from rankzero.units import ms

SMALL = GPTConfig(layers=2, heads=2, head_dim=8, context=16)
BATCH = 8  # sequences at least, of all ranks or of each with --weak


def _ranks(text: str) -> list[int]:
    ranks = [int(piece) for piece in text.split(",") if piece.isdecimal()]
    if len(ranks) != text.count(",") + 1 or not all(1 <= n <= 8 for n in ranks):
        raise argparse.ArgumentTypeError(f"must be numbers of ranks from 1 to 8, with commas, got {text}")
    return ranks


def _picture(runs: list[Measured], weak: bool):
    from rankzero import plots

    groups = {}
    for run in runs:
        name = f"{run.ranks} rank{'s' if run.ranks > 1 else ''}"
        groups[name] = {"compute": run.compute / ms, "collectives": run.collectives / ms}
    said = "; ".join(f"{name} {sum(parts.values()):.3g} ms" for name, parts in groups.items())
    kept = "the work of each rank" if weak else "the batch"
    alt = f"Median time of a training step, {kept} kept, in compute and collectives: {said}."
    return plots.bars(groups, y="time of a step (ms)", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=_ranks, default=[1, 2, 4], help="with commas; the first is the baseline")
    options.add_argument("--weak", action="store_true", help="keep the work of each rank, not the whole")
    arguments = options.parse_args(argv)
    efficiency = part(arguments.code, "ch01.scaling", "scaling_efficiency")
    ranks, weak = arguments.ranks[:2] if arguments.quick else arguments.ranks, arguments.weak
    config, steps = (SMALL, 2) if arguments.quick else (CONFIG, 5)
    least = math.lcm(*ranks)
    batch = BATCH if weak else -(-BATCH // least) * least
    runs = scaling_runs(ranks, batch, steps, weak, config)
    first, rows = runs[0], []
    for run in runs:
        share = efficiency(first.step, run.step, run.ranks, baseline_ranks=first.ranks, weak=weak)
        rows.append((run.ranks, run.batch, run.step / ms, run.collectives / ms, share, run.losses[-1]))
    header = ("ranks", "batch", "step (ms)", "of it collectives (ms)", "efficiency", "last loss")
    show(arguments, Table(header, rows), lambda: _picture(runs, weak))
    largest = max(runs, key=lambda run: run.ranks)
    alone = scaling_runs((1,), largest.batch, steps, config=config)[0]
    pairs = zip(alone.losses, largest.losses, strict=True)
    right = all(math.isclose(one, other, rel_tol=1e-4) for one, other in pairs)
    return verdict(right, f"{largest.ranks} ranks have the losses of one rank with the whole batch")


if __name__ == "__main__":
    sys.exit(main())
