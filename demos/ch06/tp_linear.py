"""A column-parallel and a row-parallel layer on real ranks, against the unsplit pair; without f the error is silent.

python -m demos tp_linear --ranks 4 --in 8 --out 16 --drop-f
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch06.conjugate_runs import pair_errors

#: How far double precision may be off.
NEAR = 1e-9

WHAT = {"Y": "output", "dX": "gradient of the input", "dA": "gradient of matrix 1", "dB": "gradient of matrix 2"}


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--in", type=whole(1, 512), default=8, dest="width", help="features before and after")
    options.add_argument(
        "--out", type=whole(1, 2048), default=16, dest="inner", help="features that are split over the ranks"
    )
    options.add_argument("--drop-f", action="store_true", help="leave out the operator f")
    arguments = options.parse_args(argv)
    ranks = arguments.ranks
    if arguments.inner % ranks:
        options.error(f"--out must be a multiple of --ranks, {ranks}, got {arguments.inner}")
    f, g = (part(arguments.code, "ch06.tensor_parallel", name) for name in ("copy_to_ranks", "reduce_from_ranks"))
    errors = pair_errors(ranks, arguments.drop_f, f, g, arguments.inner, arguments.width)
    rows = [(WHAT[name], errors[name], "yes" if errors[name] <= NEAR else "NO") for name in WHAT]
    show(arguments, Table(("of", "largest error", "right"), rows))
    print(f"the largest element of the input's right gradient is {errors['largest dX']:.6g}")
    others = all(errors[name] <= NEAR for name in WHAT if name != "dX")
    if arguments.drop_f and ranks > 1:
        return verdict(others and errors["dX"] > NEAR, "without f only the input's gradient is wrong")
    return verdict(
        others and errors["dX"] <= NEAR, f"output and gradients are those of the whole pair, within {NEAR:g}"
    )


if __name__ == "__main__":
    sys.exit(main())
