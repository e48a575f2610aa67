"""What ``fully_shard`` holds and sends for four linear layers on real ranks, beside the formulas of ZeRO stage 3.

python -m demos fsdp --ranks 2 --accumulate 4 --no-reshard
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch05.fsdp_runs import WIDTHS, Fsdp, fsdp_step
from rankzero.facts.units import KB


def _picture(run: Fsdp):
    from rankzero.figures import plots

    groups = {moment.name: {"slices": moment.slices / KB, "gathered": moment.whole / KB} for moment in run.moments}
    most = max(moment.whole for moment in run.moments)
    alt = f"Bytes of weights on rank 0 over a step: {run.local_bytes[0]:,} of slices, at most {most:,} gathered."
    return plots.bars(groups, y="weights on rank 0 (kB)", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=2)
    options.add_argument("--no-reshard", action="store_true", help="keep gathered weights until the backward pass")
    options.add_argument("--accumulate", type=whole(1, 8), default=1, metavar="PASSES", help="backward passes per step")
    options.add_argument("--bf16", action="store_true", help="weights, gradients and moments in bf16")
    asked = options.parse_args(argv)
    ranks, passes, reshard = asked.ranks, asked.accumulate, not asked.no_reshard
    memory, traffic = (part(asked.code, "ch05.zero", f"zero_{name}") for name in ("memory", "traffic"))
    dtype, size = ("bfloat16", 2) if asked.bf16 else ("float32", 4)
    memory(0, 3, ranks)  # a function not yet written ends the demo before the processes start
    layers = len(WIDTHS) - 1
    ways = ("every",) if asked.quick else ("every", "last", "never") if passes > 1 else ("every", "never")
    rows, right = [], True
    for way in ways:
        run = fsdp_step(ranks, reshard, passes, way, dtype)
        spare = size * sum(width + 1 for width in WIDTHS[:-1])  # each tensor is cut into whole rows
        slices = memory(run.parameters, 3, ranks, size, 0, 0)
        right &= sum(run.local_bytes) == size * run.parameters and max(run.local_bytes) < slices + spare
        if way != "never":
            moments = memory(run.parameters, 3, ranks, 0, 0, 2 * size)
            right &= max(run.optimizer_bytes) < moments + 2 * spare and run.gradient_bytes == run.local_bytes[0]
        reductions = {"every": passes, "last": 1, "never": 0}[way]
        padded = ranks * max(run.local_bytes) / size
        sent = traffic(padded, 3, ranks, size, 0, passes, reshard) + reductions * traffic(padded, 3, ranks, 0, size)
        gathers = layers * passes * (2 if reshard else 1)
        right &= run.calls == {"all_gather": gathers, "reduce_scatter": layers * reductions}
        right &= abs(run.sent - sent) <= 1e-9 * max(sent, 1)
        calls = ", ".join(f"{count} {name}" for name, count in run.calls.items())
        rows.append((way, calls, round(run.sent), round(sent), max(run.local_bytes), slices, run.gradient_bytes))
        if way == "every":
            shown = run
            print("gathered on rank 0:", ", ".join(f"{moment.name} {moment.whole:,} B" for moment in run.moments))
    print(
        f"{shown.parameters:,} parameters on {ranks} ranks; off one process after a step: {shown.step_difference:.1e}"
    )
    header = ("reduce in pass", "calls", "sent", "zero_traffic", "slices (B)", "zero_memory", "gradients (B)")
    show(asked, Table(header, rows), lambda: _picture(shown))
    right &= asked.bf16 or (shown.step_difference is not None and shown.step_difference < 1e-6)
    return verdict(right, "slices, calls and traffic are those of stage 3, and the weights equal those of one process")


if __name__ == "__main__":
    sys.exit(main())
