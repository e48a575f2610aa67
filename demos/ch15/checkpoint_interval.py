"""How often to save: three formulas for the checkpoint interval, and the time that each of them wastes.

python -m demos checkpoint_interval --checkpoint 60 --mtbf-hours 3.09 --restart 300
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.ch01.plan import number
from demos.common import Table, demo, parser, part, show, verdict
from rankzero.facts.units import hour, minute

METHODS = ("young", "daly", "exact")


def _curve(waste, best: dict[str, float]):
    from rankzero.figures import plots

    low, high = best["exact"] / 20, best["exact"] * 20
    intervals = [low * (high / low) ** (step / 60) for step in range(61)]
    points = {name: [(interval / minute, 100 * waste(interval))] for name, interval in best.items()}
    curve = {"waste": [(interval / minute, 100 * waste(interval)) for interval in intervals]}
    said = ", ".join(f"{name} {interval / minute:.3g} min" for name, interval in best.items())
    alt = f"Waste against the interval, flat around its minimum, {100 * waste(best['exact']):.3g} %: {said}."
    return plots.curves(curve, points, x="interval (minutes)", y="waste (% of the wall-clock)", log="x", alt=alt)


def _errors(optimum):
    from rankzero.figures import plots

    ratios = [10 ** (-4 + step / 15) for step in range(61)]

    def off(name: str, ratio: float) -> float:
        return 100 * (optimum(2 * ratio, 1.0, name) / optimum(2 * ratio, 1.0, "exact") - 1)

    curves = {name: [(ratio, off(name, ratio)) for ratio in ratios] for name in ("young", "daly")}
    alt = f"Error of two formulas against C/(2M): Young {off('young', 0.1):.1f} % late at 0.1, Daly close by."
    return plots.curves(curves, x="C / (2M)", y="interval against the exact one (%)", log="x", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument(
        "--checkpoint", type=number(1e6), default=60.0, help="seconds that the job stops for a checkpoint"
    )
    options.add_argument("--mtbf-hours", type=number(1e6), default=3.09, help="between failures of the whole job")
    options.add_argument("--restart", type=number(1e6), default=300.0, help="seconds")
    options.add_argument("--sweep", action="store_true", help="draw the error of Young and Daly instead of the waste")
    given = options.parse_args(argv)
    optimum = part(given.code, "ch15.checkpointing", "optimal_checkpoint_interval")
    wasted = part(given.code, "ch15.checkpointing", "checkpoint_waste")
    stall, mtbf = given.checkpoint, given.mtbf_hours * hour
    best = {name: optimum(stall, mtbf, name) for name in METHODS}

    def waste(interval: float) -> float:
        return wasted(interval, stall, mtbf, given.restart)

    rows = []
    for name, interval in best.items():
        rows.append((name, interval, interval / minute, 100 * (interval / best["exact"] - 1), 100 * waste(interval)))
    header = ("method", "interval (s)", "minutes", "against exact (%)", "waste (%)")
    show(given, Table(header, rows), lambda: _errors(optimum) if given.sweep else _curve(waste, best))
    least = waste(best["exact"])
    nearby = [waste(times * best["exact"]) for times in (0.5, 0.9, 1.1, 2.0)]
    right = best["exact"] <= best["young"] and all(least <= other for other in nearby)
    return verdict(right, "no interval nearby wastes less than the exact one, and Young's is not shorter")


if __name__ == "__main__":
    sys.exit(main())
