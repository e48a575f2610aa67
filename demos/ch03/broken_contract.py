"""Break the contract of collectives on purpose: every rank calls the same ones, in the same order, with the same sizes.

python -m demos broken_contract --case order
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, show, verdict
from rankzero import world


def operation() -> list[float]:
    """Rank 0 calls an all-reduce, rank 1 a broadcast."""
    x = torch.ones(4)
    dist.all_reduce(x) if dist.get_rank() == 0 else dist.broadcast(x, src=0)
    return x.tolist()


def order() -> list[float]:
    """Both ranks all-reduce a = 1 and b = 10, rank 0 a first, rank 1 b first."""
    a, b = torch.tensor([1.0]), torch.tensor([10.0])
    for x in (a, b) if dist.get_rank() == 0 else (b, a):
        dist.all_reduce(x)
    return [a.item(), b.item()]


def length() -> list[float]:
    """Rank 0 all-reduces 4 ones, rank 1 all-reduces 8."""
    x = torch.ones(4 if dist.get_rank() == 0 else 8)
    dist.all_reduce(x)
    return x.tolist()


def group() -> list[float]:
    """Ranks 0 and 1 form a group; rank 2, which is not in it, calls its all-reduce too."""
    pair = dist.new_group([0, 1])
    x = torch.tensor([10.0 ** dist.get_rank()])
    dist.all_reduce(x, group=pair)
    return x.tolist()


#: The function, its ranks, and whether what came of it (the values or the error) is what such a breach does.
CASES: dict[str, tuple[Callable[[], list[float]], int, Callable[[object], bool]]] = {
    "operation": (operation, 2, lambda end: "all_reduce" in str(end) and "broadcast" in str(end)),
    "order": (order, 2, lambda end: end == ([11.0, 11.0], [11.0, 11.0])),
    "length": (length, 2, lambda end: end != ([2.0] * 4, [2.0] * 8)),
    "group": (group, 3, lambda end: end == ([11.0], [11.0], [100.0])),
}


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--case", choices=(*CASES, "all"), default="all")
    arguments = options.parse_args(argv)
    rows, right = [], True
    for name in CASES if arguments.case == "all" else (arguments.case,):
        function, ranks, expected = CASES[name]
        print(f"{name}: {function.__doc__}")
        try:
            run = world.run(function, ranks=ranks, timeout=0.7 if arguments.quick else 3.0)
            end: object = run.values
            text = "; ".join(["no error", *(f"rank {r} has {value}" for r, value in enumerate(run.values))])
            text += f"; {run.text}" if run.text else ""
        except world.WorldError as error:
            end, text = error, str(error)
        right &= expected(end)
        rows.append((name, text.partition("\n")[0]))
    show(arguments, Table(("case", "what came of it"), rows))
    return verdict(right, "every broken contract shows")


if __name__ == "__main__":
    sys.exit(main())
