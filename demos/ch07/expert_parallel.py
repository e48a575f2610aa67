"""A mixture-of-experts layer over real ranks: same numbers as one process, who sends what to whom, and EP against TP.

python -m demos expert_parallel --ranks 4 --experts 8 --tokens 512
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch07.expert_parallel_runs import HIDDEN, expert_parallel_run
from solutions.ch03.collective_cost import traffic

#: Largest difference from the layer in one process, in float64.
NEAR = 1e-9


def _picture(sizes: list[list[int]]):
    from rankzero import figures

    return figures.routing(sizes, "bytes")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--experts", type=whole(1, 64), default=8, help="a multiple of --ranks")
    options.add_argument(
        "--tokens", type=whole(1, 4096), default=512, help="tokens on all ranks together, unevenly spread"
    )
    options.add_argument("--top-k", type=whole(1, 8), default=2)
    asked = options.parse_args(argv)
    ranks, experts = asked.ranks, asked.experts
    if experts % ranks or asked.top_k > experts:
        options.error("--experts must be a multiple of --ranks, and --top-k at most --experts")
    layer = part(asked.code, "ch07.moe", "expert_parallel_forward")
    total = min(asked.tokens, 64) if asked.quick else asked.tokens
    tokens = [total * (rank + 1) // ranks - total * rank // ranks for rank in range(ranks)]
    moved = tokens[0] // 2
    tokens = [tokens[0] - moved, *tokens[1:-1], tokens[-1] + moved] if ranks > 1 else tokens
    run = expert_parallel_run(tokens, experts, asked.top_k, layer=layer)
    whole_layer = traffic("all_reduce", total * HIDDEN * 8, ranks, 0)[0]
    rows = [(rank, tokens[rank], sum(row), run.travelling[rank], whole_layer) for rank, row in enumerate(run.matrix)]
    header = ("rank", "tokens", "bytes handed in", "bytes sent away, both ways", "one ring all-reduce of all tokens")
    show(asked, Table(header, rows), lambda: _picture(run.matrix))
    print(f"largest difference: output {run.output_difference:.1e}, gradients {run.gradient_difference:.1e}")
    same = max(run.output_difference, run.gradient_difference) <= NEAR
    booked = all(sum(row) == sizes[0] for row, sizes in zip(run.matrix, run.handed_in, strict=True))
    return verdict(
        same and booked, "the layer equals the one in a single process, and the bytes are those in the event log"
    )


if __name__ == "__main__":
    sys.exit(main())
