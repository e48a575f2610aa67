"""Steps and examples that the small model needs to reach a loss, by batch size; and its gradient noise scale.

python -m demos batch_scaling --optimizer adamw --rule sqrt --batches 4,8,16,32,64
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from demos.ch05.gradient_sync import wholes
from demos.common import Table, demo, number, parser, part, show, verdict
from experiments.ch05.batch_scaling_runs import ToTarget, fit_hyperbola, measured_noise, steps_to_target

BASE_BATCH = 16
RATES = {"adamw": 0.01, "sgd": 0.5}  # learning rates that suit the base batch


def _picture(runs: Sequence[ToTarget], fewest: float, critical: float):
    from rankzero.figures import plots

    curve = [2 ** (power / 4) for power in range(4 * int(math.log2(runs[0].batch)), 1 + 4 * 10)]
    curve = [batch for batch in curve if batch <= runs[-1].batch]
    lines = {
        "steps": [(batch, fewest * (1 + critical / batch)) for batch in curve if batch > -critical],
        "examples": [(batch, fewest * (batch + critical)) for batch in curve if batch > -critical],
    }
    steps = [(float(run.batch), float(run.steps or 0)) for run in runs]  # all of them reached the target
    points = {"steps": steps, "examples": [(batch, batch * count) for batch, count in steps]}
    alt = f"Steps to the target fall and examples rise with the batch; the fitted critical batch is {critical:.3g}."
    return plots.curves(lines, points, x="batch (sequences)", y="to the target", log="xy", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--optimizer", choices=RATES, default="adamw")
    options.add_argument("--rule", choices=("constant", "linear", "sqrt", "noise"), default="sqrt")
    options.add_argument("--batches", type=wholes(1, 512), default=[4, 8, 16, 32, 64], metavar="B,B")
    options.add_argument("--target", type=number(0, 100), default=2.9, help="the loss to reach, nats")
    asked = options.parse_args(argv)
    batches = sorted({asked.batches[0], asked.batches[-1]} if asked.quick else set(asked.batches))
    if len(batches) < 2:
        options.error(f"--batches must hold two different ones at least, got {asked.batches}")
    rule, base = asked.rule, RATES[asked.optimizer]
    names = ("scaled_learning_rate", "gradient_noise_scale")
    scaled, noise_scale = (part(asked.code, "ch05.batching", name) for name in names)
    scaled(base, BASE_BATCH, BASE_BATCH, "linear")  # a function not yet written ends the demo before the work
    at, ranks, measured = ((0, 10), 2, 5) if asked.quick else ((0, 100), 4, 20)
    noise = {}
    for seen in measured_noise(at, ranks, measured=measured):
        sizes, norms = (seen.small_batch, seen.large_batch), (seen.small_norm_squared, seen.large_norm_squared)
        noise[seen.step] = noise_scale(*sizes, *norms)
        print(f"after {seen.step} steps, loss {seen.loss:.3f}: noise scale {noise[seen.step]:.3g} sequences")
    late = noise[at[-1]]
    if rule == "noise" and not 0 < late < math.inf:
        return verdict(False, f"the measured noise scale, {late:g}, gives a learning rate")
    rates = {b: base if rule == "constant" else scaled(base, BASE_BATCH, b, rule, late) for b in batches}
    runs = steps_to_target(batches, rates.__getitem__, asked.optimizer, 4.0 if asked.quick else asked.target)
    there = [run for run in runs if run.steps is not None]
    rows = [(run.batch, run.rate, run.steps or "never", run.examples or "never") for run in runs]
    table = Table(("batch", "learning rate", "steps", "examples"), rows)
    if len(there) < 2:
        print(table)
        return verdict(False, "two batches at least reached the target")
    fewest, critical = fit_hyperbola(there)
    show(asked, table, lambda: _picture(there, fewest, critical))
    print(f"fitted: {fewest:.3g} steps at least, critical batch {critical:.3g} sequences")
    right = len(there) == len(runs) and (there[-1].steps or 0) <= (there[0].steps or 0)
    return verdict(right, "every batch reached the target, the largest in no more steps than the smallest")


if __name__ == "__main__":
    sys.exit(main())
