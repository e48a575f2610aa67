"""Keys and values of the tiny model in fewer bits: bytes, and how far the predictions move.

python -m demos kv_quantization --bits 8,4 --outliers 8
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from demos.common import Table, amount, demo, parser, part, show, verdict, whole


def bits(text: str) -> list[int]:
    """Numbers of bits with commas between them."""
    found = [whole(2, 8)(piece) for piece in text.split(",")]
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"must name each number of bits once, got {text}")
    return found


def _picture(rows: Sequence[tuple]):
    from rankzero import plots

    drawn = {name: {"": divergence} for name, _, divergence, _ in rows if divergence > 0}
    said = ", ".join(f"{group[''] * 1000:.2g} with {name}" for name, group in drawn.items())
    return plots.bars(drawn, y="KL divergence (nats)", log=True, alt=f"Divergence in thousandths of a nat: {said}.")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--bits", type=bits, default="8,4")
    options.add_argument("--outliers", type=amount, default=8.0, help="times that some channels of keys are larger")
    options.add_argument("--steps", type=whole(0, 500), default=60, help="of training")
    asked = options.parse_args(argv)
    if asked.outliers == 0:
        options.error("--outliers must be more than 0; 1 changes nothing")
    from experiments.ch09 import kv_runs
    from rankzero.tiny import one_thread

    pair = tuple(part(asked.code, "ch09.cached_attention", name) for name in ("quantize_kv", "dequantize_kv"))
    with one_thread():
        model = kv_runs.with_outliers(kv_runs.trained(5 if asked.quick else asked.steps), asked.outliers)
        ways = [(count, by_channel) for count in asked.bits for by_channel in (False, True)]
        runs = kv_runs.quantized_runs(model, ways, 4 if asked.quick else 32, pair)
    rows = [(run.name, run.bytes_per_token, run.divergence, run.agreement) for run in runs]
    table = Table(("keys and values", "B a token", "KL (nats)", "same top token"), rows)
    show(asked, table, lambda: _picture(rows))
    least = {
        count: min(run.divergence for run in runs if run.name.startswith(f"{count} bits,")) for count in asked.bits
    }
    right = all(least[more] < least[fewer] for more in least for fewer in least if more > fewer)
    return verdict(right and max(least.values()) < 1, "more bits stay closer to the whole cache")


if __name__ == "__main__":
    sys.exit(main())
