"""A transformer block split over real ranks, trained beside an unsplit twin: by heads, and by sequence with --sp.

python -m demos tp_block --ranks 4 --heads 8 --kv-heads 2 --sp --steps 20
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch06.block_runs import Twins, block_run, train_twins
from experiments.ch06.parallel_block import Operators

#: How far the losses and gradients of the twins may differ.
NEAR = 1e-10

PARTS = {
    "copy": ("ch06.tensor_parallel", "copy_to_ranks"),
    "reduce": ("ch06.tensor_parallel", "reduce_from_ranks"),
    "gather": ("ch06.sharded_layers", "gather_sequence"),
    "scatter": ("ch06.sharded_layers", "scatter_sequence"),
    "heads": ("ch06.heads", "head_partition"),
}


def _picture(run: Twins):
    from rankzero.figures import plots

    steps = [(step, abs(a - b)) for step, (a, b) in enumerate(zip(run.whole, run.split, strict=True), 1)]
    alt = f"Difference of the losses of both twins over {len(steps)} steps; at most {run.difference:.2g}."
    return plots.curves({"difference": steps}, x="step", y="difference of the losses", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--heads", type=whole(1, 32), default=8)
    options.add_argument("--kv-heads", type=whole(1, 32), help="key and value heads; by default as many as --heads")
    options.add_argument("--sp", action="store_true", help="split the sequence too; --ranks must divide 8 tokens")
    options.add_argument("--steps", type=whole(1, 200), default=20)
    arguments = options.parse_args(argv)
    ranks, heads, kv_heads = arguments.ranks, arguments.heads, arguments.kv_heads or arguments.heads
    operators = Operators(**{name: part(arguments.code, *where) for name, where in PARTS.items()})
    try:
        operators.heads(heads, kv_heads, ranks, 0)
        if arguments.sp and 8 % ranks:
            raise ValueError(f"ranks must divide 8 tokens, got {ranks}")
    except ValueError as error:
        options.error(str(error))
    once = block_run(ranks, heads, kv_heads, arguments.sp, operators=operators)
    run = train_twins(
        ranks, heads, kv_heads, arguments.sp, 5 if arguments.quick else arguments.steps, operators=operators
    )
    calls = ", ".join(f"{count} {name}" for name, count in once.calls.items()) or "none"
    print(f"each KV head is on {once.replicas} ranks; collectives of one pass: {calls}; {once.bytes:,.0f} B sent")
    pairs = zip(run.whole, run.split, strict=True)
    rows = [(step, a, b, abs(a - b)) for step, (a, b) in enumerate(pairs, 1)]
    show(arguments, Table(("step", "loss, whole", "loss, split", "difference"), rows), lambda: _picture(run))
    near = run.difference <= NEAR and max(once.errors.values()) <= NEAR
    return verdict(near, f"gradients and losses equal those of the unsplit block to within {NEAR:g}")


if __name__ == "__main__":
    sys.exit(main())
