"""A model of small layers, eager and as a graph: captured once, replayed on new inputs, compared and timed.

python -m demos cuda_graph --device auto --batch 32 --iters 1000
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero.facts.units import us


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    options.add_argument("--batch", type=whole(1, 4096), default=32)
    options.add_argument("--layers", type=whole(1, 1000), default=100)
    options.add_argument("--iters", type=whole(1, 100_000), default=1000)
    asked = options.parse_args(argv)
    import torch

    from experiments.ch10 import dispatch_runs
    from rankzero.tiny.cpu_graph import best_device, graph_for

    device = best_device() if asked.device == "auto" else asked.device
    if device == "cuda" and not torch.cuda.is_available():
        options.error("--device cuda: there is no GPU here")
    layers, runs = (10, 5) if asked.quick else (asked.layers, asked.iters)
    found = dispatch_runs.eager_and_graph(device, asked.batch, runs, layers)
    rows = [("eager", found.eager / us), ("replayed", found.replay / us)]
    show(asked, Table(("a pass", "time (us)"), rows))
    if device == "cpu":
        print(f"CpuGraph replays {found.operations} operations through Python: this does not measure speed")
    runner = part(asked.code, "ch10.graph_runner", "GraphRunner")(
        dispatch_runs.small_layers(2).to(device), [1, 4, 16], 32, graph_for(device)
    )
    print(f"a runner for batches up to 16: {_run(runner, device)} graphs for 5 batches")
    return verdict(found.difference < 1e-4 and runner.captures == 3, "replayed outputs equal the eager ones")


def _run(runner, device: str) -> int:
    import torch

    for rows in (3, 1, 16, 2, 20):
        assert len(runner.run(torch.zeros(rows, 32, device=device))) == rows
    return runner.captures


if __name__ == "__main__":
    sys.exit(main())
