"""This core's peak by timed matrix products, and how much of it the tiny model's training uses: MFU and HFU.

python -m demos mfu --steps 30 --recompute
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch15.matmul_peak import CONFIG, SIDES, utilization_runs
from rankzero.tiny import GPTConfig
from rankzero.units import GFLOP

SMALL = GPTConfig(layers=1, heads=2, head_dim=16, context=32)


def _picture(shares: dict[str, tuple[float, float]]):
    from rankzero import plots

    groups = {name: {"MFU": 100 * mfu, "HFU": 100 * hfu} for name, (mfu, hfu) in shares.items()}
    said = "; ".join(f"{name}: MFU {mfu:.1%}, HFU {hfu:.1%}" for name, (mfu, hfu) in shares.items())
    return plots.bars(groups, y="% of the measured peak", alt=f"Utilization of one core by the tiny model: {said}.")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--steps", type=whole(2, 1000), default=12, help="of each kind")
    options.add_argument("--recompute", action="store_true", help="show the steps that recompute every block, too")
    given = options.parse_args(argv)
    utilization = part(given.code, "ch15.flops", "utilization")
    utilization(1.0, 1.0, 1, 1.0)
    settings = (2, 2, SMALL, (64, 128)) if given.quick else (given.steps, 8, CONFIG, SIDES)
    run = utilization_runs(*settings)
    kinds = {"kept": run.kept} | ({"recomputed": run.recomputed} if given.recompute or given.quick else {})
    rows: list[tuple] = [(f"product of {side}", rate / GFLOP, "", "", "") for side, rate in run.sweep.items()]
    shares = {}
    for name, rate in kinds.items():
        speed, work, again = rate.tokens_per_second, rate.flops_per_token, rate.recomputed_forward
        shares[name] = utilization(speed, work, 1, run.peak, again)
        percent = (100 * share for share in shares[name])
        rows.append((f"training, {name}", speed * work * (3 + again) / 3 / GFLOP, speed, *percent))
    header = ("work", "GFLOP/s done", "tokens/s", "MFU (%)", "HFU (%)")
    show(given, Table(header, rows), lambda: _picture(shares))
    right = run.kept.losses == run.recomputed.losses and all(0 < mfu <= hfu for mfu, hfu in shares.values())
    again = run.recomputed.recomputed_forward
    right &= all(
        math.isclose(hfu, mfu * (3 + kinds[name].recomputed_forward) / 3) for name, (mfu, hfu) in shares.items()
    )
    return verdict(right, f"recomputing {again:.0%} of the forward pass changes no loss, and HFU counts it")


if __name__ == "__main__":
    sys.exit(main())
