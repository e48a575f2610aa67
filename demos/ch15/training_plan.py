"""One training run on one sheet: operations, days, memory, traffic, checkpoints and cost, beside published figures.

python -m demos training_plan --model LLAMA3_405B --gpus 16384 --tokens 15.6e12 --mfu 0.4 --layout 8,1,16,128
python -m demos training_plan --parameters 34e9 --gpus 128 --tokens 1e12 --layout 8,1,1,16
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace

from demos.ch01.plan import number
from demos.common import Table, demo, parser, part, show, verdict, whole
from demos.typed_model import ModelChoice
from experiments.ch15.explorers import SHAPES
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import GB, TB, billion, million
from solutions.ch15 import llama_405b as llama

MODEL = ModelChoice({f"LLAMA3_{name}": shape for name, shape in SHAPES.items()}, "LLAMA3_405B")

#: What the table prints: a name, its key in the sheet, a divisor and a unit.
LINES = (
    *(("parameters", "parameters", billion, "billion"), ("operations", "flops", 1e24, "1e24 FLOP")),
    *(("step", "step_seconds", 1.0, "s"), ("compute", "compute_days", 1.0, "days"), ("in all", "days", 1.0, "days")),
    *(("fullest GPU", "memory_bytes", GB, "GB"), ("bubble", "bubble_fraction", 0.01, "% of a step")),
    *((f"{kind.upper()} sent by a GPU", f"{kind}_bytes", GB, "GB a step") for kind in ("tp", "cp", "pp", "dp")),
    *(("checkpoint", "checkpoint_bytes", TB, "TB"), ("its write", "write_seconds", 1.0, "s")),
    *(("save every", "interval", 60.0, "min of compute"), ("waste", "waste", 0.01, "% of the time")),
    *(("failures", "failures", 1.0, ""), ("GPU time", "gpu_hours", million, "million hours")),
    *(("rent", "dollars", million, "M$"), ("of it wasted", "dollars_lost", million, "M$")),
    *(("energy", "kwh", million, "GWh"), ("electricity", "electricity_dollars", million, "M$")),
)

#: Published figures for the 405B model on 16,384 GPUs and all its tokens, by the name of the table row.
HOURS, FLOP = f"{llama.GPU_HOURS / million:g}", f"{llama.BUDGET_FLOP / 1e24:g}"
PUBLISHED = {"parameters": "405", "operations": FLOP, "waste": "< 10", "GPU time": HOURS}


def _layout(text: str) -> tuple[int, ...]:
    sizes = tuple(int(piece) for piece in text.split(",") if piece.isdecimal())
    if len(sizes) != 4 or text.count(",") != 3 or min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"must be four sizes TP,CP,PP,DP, got {text}")
    return sizes


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    MODEL.add_to(options)
    options.add_argument("--gpus", type=whole(1, 10**6), default=16_384, help="H100")
    options.add_argument("--tokens", type=number(1e16), default=llama.TOKENS)
    options.add_argument("--mfu", type=number(1.0), default=0.4)
    options.add_argument("--layout", type=_layout, default=(8, 1, 16, 128), help="TP,CP,PP,DP")
    given = options.parse_args(argv)
    model = MODEL.of(options, given)
    if model.experts:
        options.error(f"--experts must be left out: this sheet is of a dense model, got {model.experts}")
    if math.prod(given.layout) != given.gpus or given.layout[2] > model.layers:
        options.error(f"--layout must multiply to {given.gpus}, with PP at most {model.layers}, got {given.layout}")
    report = part(given.code, "ch15.run_sheet", "run_report")
    layout, *rest = llama.plan(given.gpus, given.mfu, given.layout)
    chunks = min(layout.virtual_stages, math.ceil(model.layers / layout.pp))  # the last one may have fewer layers
    sheet = report(model, given.tokens, replace(layout, virtual_stages=chunks), *rest)
    run = (model, given.gpus, given.tokens)
    known = PUBLISHED if run == (LLAMA3_405B, 16_384, llama.TOKENS) else {}
    rows = [(name, getattr(sheet, key) / unit, what, known.get(name, "")) for name, key, unit, what in LINES]
    show(given, Table(("quantity", "computed", "unit", "published"), rows))
    assumed = "".join(f"{name.replace('_', ' ')} {value:g}, " for name, value in llama.ASSUMED.items())
    print(f"assumed: {assumed}16 micro-batches of one sequence, chunks a rank {chunks}, recompute cheap")
    right = math.isclose(sheet.days * (1 - sheet.waste), sheet.compute_days)
    right = right and math.isclose(sheet.days * 24 * given.gpus, sheet.gpu_hours)
    return verdict(right, "days less waste are days of compute, and the GPU-hours are those of all days")


if __name__ == "__main__":
    sys.exit(main())
