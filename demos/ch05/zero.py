"""DDP and ZeRO stages 1, 2 and 3 on real ranks: bytes held and sent, beside what the formulas say.

All numbers are fp32: 4 bytes a weight, 4 a gradient, 8 for the two moments, and no master copy.

python -m demos zero --ranks 4 --micro-steps 2
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch05.zero_runs import ROWS, WIDTHS, ZeroRun, zero_run

#: fp32 weights, gradients, moments: bytes per parameter.
RECIPE = (4.0, 4.0, 8.0)
#: How far float32 weights may be off after some steps of AdamW.
NEAR = 1e-6


def _picture(runs: Sequence[ZeroRun]):
    from rankzero import plots

    kinds = ("weight_bytes", "gradient_bytes", "optimizer_bytes")
    groups = {f"stage {run.stage}": {kind[:-6]: max(getattr(run, kind)) / 1e3 for kind in kinds} for run in runs}
    alt = f"Bytes held by a rank: {', '.join(f'{max(run.state_bytes):,} under stage {run.stage}' for run in runs)}."
    return plots.bars(groups, y="model states of a rank (kB)", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=int, choices=(1, 2, 3, 4, 6), default=4)
    options.add_argument("--steps", type=whole(1, 50), default=3)
    options.add_argument("--micro-steps", type=whole(1, 24), default=1, help="backward passes before each step")
    options.add_argument("--no-reshard", action="store_true", help="stage 3 keeps gathered weights for backward")
    asked = options.parse_args(argv)
    ranks, micro_steps, reshard = 2 if asked.quick else asked.ranks, asked.micro_steps, not asked.no_reshard
    if ROWS % (ranks * micro_steps):
        options.error(f"--micro-steps times --ranks must divide {ROWS}, got {micro_steps} and {ranks}")
    memory, traffic = (part(asked.code, "ch05.zero", f"zero_{name}") for name in ("memory", "traffic"))
    steps = 1 if asked.quick else asked.steps
    memory(0, 0, ranks)  # a part that is not written ends the demo before the processes start
    runs = [zero_run(stage, ranks, steps, micro_steps, reshard) for stage in range(4)]
    plain = zero_run(0, 1, steps).weights
    layers, rows, right = len(WIDTHS) - 1, [], True
    for run in runs:
        held = memory(run.parameters, run.stage, ranks, *RECIPE)
        sent = traffic(run.parameters, run.stage, ranks, *RECIPE[:2], micro_steps, reshard)
        off = float((run.weights - plain).abs().max())
        padding = layers * (ranks - 1) * sum(RECIPE)
        right &= all(held - 1e-6 <= size <= held + padding for size in run.state_bytes) and off <= NEAR
        right &= all(abs(size - sent) <= 1e-9 * max(sent, 1) for size in run.sent)
        calls = ", ".join(f"{count} {name}" for name, count in run.calls.items() if count)
        rows.append((run.stage, max(run.state_bytes), round(held), round(max(run.sent)), round(sent), calls, off))
    print(f"{runs[0].parameters:,} parameters in {layers} layers on {ranks} ranks; bytes of one rank, sent in one step")
    header = ("stage", "held", "zero_memory", "sent", "zero_traffic", "calls of a step", "off plain AdamW")
    show(asked, Table(header, rows), lambda: _picture(runs))
    return verdict(right, "every rank holds and sends what the formulas say, and the weights are those of one process")


if __name__ == "__main__":
    sys.exit(main())
