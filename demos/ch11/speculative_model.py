"""The speed-up of speculation by draft length, in closed form and simulated, with the time of every draft pass.

python -m demos speculative_model --alpha 0.7 --c 0.2
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from rankzero.sim.speculation import simulate
from solutions.ch11.speculative import MARGIN


def picture(rows: Sequence[tuple], best: int):
    """Both against the draft length."""
    from rankzero.figures import plots

    closed = [(row[0], row[2]) for row in rows]
    return plots.curves(
        {"closed form": closed},
        {"simulated": [(row[0], row[3]) for row in rows]},
        x="draft length k",
        y="speed-up",
        rules={f"best k = {best}": best},
        alt=f"Speed-up against draft length, largest at k = {best} with {closed[best][1]:.3f}; the simulation agrees.",
    )


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--alpha", type=number(0, 1), default=0.7, help="acceptance probability")
    options.add_argument("--c", type=number(0, 10), default=0.2, help="time of a draft pass over that of a target pass")
    options.add_argument("--verify", type=number(1, 64), default=1.0, help="time of verification, in target passes")
    options.add_argument("--longest", type=whole(1, 32), default=16, help="the longest draft")
    options.add_argument(
        "--tokens", type=whole(10_000, 10**7), default=1_000_000, help="tokens to simulate for each length"
    )
    asked = options.parse_args(argv)
    tokens_of = part(asked.code, "ch11.speculative", "expected_tokens")
    speedup = part(asked.code, "ch11.speculative", "speculative_speedup")
    tokens = min(asked.tokens, 200_000) if asked.quick else asked.tokens
    rows, right = [], True
    for k in range(asked.longest + 1):
        verify = asked.verify if k else 1.0
        closed = speedup(asked.alpha, k, asked.c, verify)
        simulated = simulate(asked.alpha, k, tokens, seed=k).speedup(asked.c, verify)
        right &= abs(simulated / closed - 1) < 0.02 * max(1.0, math.sqrt(100_000 / tokens))
        rows.append((k, tokens_of(asked.alpha, k), closed, simulated))
    best = 0
    for k, _, closed, _ in rows:  # of equally fast lengths the shortest: a rounding error is no gain
        best = k if closed > rows[best][2] * (1 + MARGIN) else best
    show(asked, Table(("k", "tokens per pass", "speed-up", "simulated"), rows), lambda: picture(rows, best))
    print(f"best k: {best}" + ("" if best else ", do not speculate"))
    return verdict(right, "the simulation agrees with the closed form")


if __name__ == "__main__":
    sys.exit(main())
