"""The small model cut into stages over real ranks: same loss, same gradients, but only one rank works at a time.

python -m demos naive_model_parallel --ranks 4 --layers 8 --width 128
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch02 import split_runs
from rankzero.facts.units import ms
from rankzero.tiny import GPTConfig

#: How far a gradient may be from that of the uncut model.
NEAR = 1e-6


def _picture(run: split_runs.Split):
    from rankzero import figures

    return figures.spacetime(run.timeline)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument(
        "--ranks", type=whole(1, 8), default=4, help="the most stages; it runs with 1, 2, 4, ... up to this many"
    )
    options.add_argument("--layers", type=whole(1, 64), default=8)
    options.add_argument("--width", type=whole(8, 1024), default=128, help="width of a layer; a multiple of 8")
    arguments = options.parse_args(argv)
    if arguments.ranks > arguments.layers:
        options.error(f"--ranks must be at most --layers, {arguments.layers}, got {arguments.ranks}")
    if arguments.width % 8:
        options.error(f"--width must be a multiple of 8, got {arguments.width}")
    step = part(arguments.code, "ch02.model_split", "forward_backward")
    width, context = (min(arguments.width, 32), 32) if arguments.quick else (arguments.width, 128)
    config = GPTConfig(layers=arguments.layers, heads=4, head_dim=width // 4, context=context)
    sizes = (
        [arguments.ranks]
        if arguments.quick
        else sorted({*(n for n in (1, 2, 4) if n < arguments.ranks), arguments.ranks})
    )
    uncut = split_runs.uncut_step(config)
    cuts = {ranks: split_runs.split_step(ranks, step, config) for ranks in sizes}
    rows = [("uncut", uncut.loss, 0.0, uncut.timeline.seconds / ms, uncut.idle_share, 0.0)]
    rows += [
        (f"{ranks} ranks", cut.loss, cut.difference(uncut), cut.timeline.seconds / ms, cut.idle_share, 1 - 1 / ranks)
        for ranks, cut in cuts.items()
    ]
    header = ("model", "loss", "largest difference of a gradient", "step (ms)", "idle share", "1 - 1/p")
    show(arguments, Table(header, rows), lambda: _picture(cuts[arguments.ranks]))
    near = all(cut.difference(uncut) <= NEAR and abs(cut.loss - uncut.loss) <= NEAR for cut in cuts.values())
    return verdict(near, f"loss and gradients equal those of the uncut model to within {NEAR:g}")


if __name__ == "__main__":
    sys.exit(main())
