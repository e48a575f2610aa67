"""What one transformer block keeps for its backward pass, tensor by tensor, and the formula beside it.

python -m demos activation_audit --hidden 256 --ffn 688 --kv-heads 2
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from types import SimpleNamespace

from demos.common import Table, demo, parser, part, show, verdict, whole

WAYS = ("none", "selective", "full")


def _picture(kept):
    from rankzero import plots

    totals = {way: {one.name: 0.0 for one in ones} for way, ones in kept.items()}
    for way, ones in kept.items():
        for one in ones:
            totals[way][one.name] += one.bytes_per_token
    said = ", ".join(f"{way} {sum(parts.values()):,.0f}" for way, parts in totals.items())
    alt = f"Bytes that one block keeps for each token, by tensor, in three ways of recomputing: {said}."
    return plots.bars(totals, y="bytes per token", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--hidden", type=whole(1, 4096), default=256)
    options.add_argument("--ffn", type=whole(1, 16_384), default=688)
    options.add_argument("--heads", type=whole(1, 64), default=8)
    options.add_argument("--kv-heads", type=whole(1, 64), default=2)
    options.add_argument("--head-dim", type=whole(2, 256), default=32, help="even")
    given = options.parse_args(argv)
    if given.heads % given.kv_heads or given.head_dim % 2:
        options.error(
            f"--heads must be a multiple of --kv-heads, and --head-dim even, got {given.heads}, {given.head_dim}"
        )
    plan = part(given.code, "ch15.run_plan", "memory_per_stage")
    sizes = {name: getattr(given, name) for name in ("hidden", "heads", "kv_heads", "head_dim", "ffn")}
    model = SimpleNamespace(layers=1, vocab=1, **sizes)
    formula = {}
    for way in WAYS:
        formula[way] = 2 * plan(model, [1], 1, 1, 1, 1, 1, recompute=way)[0]["activations"]  # it counts in bf16
    from experiments.ch15.saved_block import Shape, saved_activations, statistics_bytes

    shape = Shape(**sizes)
    tokens = (1, 16) if given.quick else (2, 128)
    kept = {way: saved_activations(shape, way, *tokens) for way in WAYS}
    small = {way: statistics_bytes(shape, way) for way in WAYS}
    rows = [("none", one.name, one.bytes_per_token) for one in kept["none"]]
    for way in WAYS:
        measured = math.fsum(one.bytes_per_token for one in kept[way])
        rows += [(way, "together", measured), (way, "formula, and statistics", float(formula[way] + small[way]))]
    show(given, Table(("recompute", "tensor", "bytes per token (fp32)"), rows), lambda: _picture(kept))
    right = all(
        math.isclose(math.fsum(one.bytes_per_token for one in kept[way]), formula[way] + small[way]) for way in WAYS
    )
    return verdict(
        right, "the saved bytes are the formula's in all three ways, norms' and attention's statistics added"
    )


if __name__ == "__main__":
    sys.exit(main())
