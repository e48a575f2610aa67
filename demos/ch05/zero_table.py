"""The memory calculator: model states per GPU under ZeRO stages 0 to 3, bytes sent, and how many GPUs it takes.

python -m demos zero_table --model "Llama 3 70B" --gpu H100 --ranks 8 --other 20
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, amount, demo, number, parser, part, show, verdict, whole
from experiments.ch05.explorers import RECIPES, parts_of
from rankzero.facts.hardware import GPUS
from rankzero.facts.models import MODELS
from rankzero.facts.units import GB

BY_NAME = {model.name: model for model in MODELS}
FIRST = next(iter(RECIPES))
DEVICES = {gpu.name.partition(" ")[0]: gpu for gpu in GPUS}


def _picture(rows: Sequence[tuple], other: float, capacity: float):
    from rankzero.figures import plots

    kinds, more = ("weights", "gradients", "optimizer"), {"other": other} if other else {}
    groups = {f"stage {row[0]}": dict(zip(kinds, row[1:4], strict=True)) | more for row in rows}
    sums = [sum(group.values()) for group in groups.values()]
    totals = ", ".join(f"{total:.4g} GB under {name}" for name, total in zip(groups, sums, strict=True))
    alt = f"Memory of a GPU, which has {capacity:g} GB (dashed line): {totals}."
    picture = plots.bars(groups, y="memory of a GPU (GB)", stacked=True, alt=alt)
    picture.axes[0].axhline(capacity, color="#888888", linewidth=1.5, linestyle=(0, (4, 3)))
    picture.axes[0].set_ylim(0, 1.08 * max(*sums, capacity))
    return picture


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--model", choices=BY_NAME, default="Llama 3 70B", metavar="NAME", help=", ".join(BY_NAME))
    options.add_argument("--parameters", type=amount, metavar="P", help="of any other model, instead of --model")
    options.add_argument("--recipe", choices=RECIPES, default=FIRST, metavar="NAME", help="; ".join(RECIPES))
    options.add_argument("--gpu", choices=DEVICES, default="H100")
    options.add_argument("--ranks", type=whole(1, 10**6), default=8, help="data-parallel GPUs")
    options.add_argument(
        "--other", type=number(0, 1e6), default=0.0, help="GB on each GPU for activations and the like"
    )
    asked = options.parse_args(argv)
    params = BY_NAME[asked.model].parameters if asked.parameters is None else asked.parameters
    gpu, ranks, other = DEVICES[asked.gpu], asked.ranks, asked.other * GB
    names = ("state_bytes", "zero_memory", "zero_traffic", "min_ranks")
    states, memory, traffic, fewest = (part(asked.code, "ch05.zero", name) for name in names)
    weights, gradients, optimizer = sizes = states(**RECIPES[asked.recipe])
    rows, right = [], True
    for stage in range(4):
        kinds = [
            memory(params, stage, ranks, *kind) for kind in ((weights, 0, 0), (0, gradients, 0), (0, 0, optimizer))
        ]
        total = memory(params, stage, ranks, *sizes) + other
        need = fewest(params, stage, gpu.memory, other, *sizes)
        fits = total <= gpu.memory * (1 + 1e-12)
        adds_up = abs(sum(kinds) + other - total) <= 1e-9 * total
        right &= adds_up and fits == (need is not None and ranks >= need)
        sent = traffic(params, stage, ranks, weights, gradients) / GB
        held = [kind / GB for kind in (*kinds, total)]
        rows.append((stage, *held, "yes" if fits else "no", sent, "none" if need is None else f"{need:,}"))
    listed = ", ".join(f"{name} {size:g}" for name, size in parts_of(asked.recipe).items() if size)
    print(f"{params:,.0f} parameters on {ranks} {gpu.name} of {gpu.memory / GB:g} GB; bytes of each: {listed}")
    header = ("stage", "weights", "gradients", "optimizer", "with other (GB)", "fits", "sent (GB)", "fewest GPUs")
    show(asked, Table(header, rows), lambda: _picture(rows, asked.other, gpu.memory / GB))
    return verdict(right, "the parts add up, and a stage fits exactly on as many GPUs as it needs, or more")


if __name__ == "__main__":
    sys.exit(main())
