"""The first distributed program: every rank says who it is, hears from all the others, and sums their numbers.

python -m demos hello --ranks 4
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch01.hello import Greeting, hello
from rankzero import world


def on_every_rank(roll_call: Callable[[float], list[float]], backend: str) -> tuple[Greeting, list[float]]:
    """This rank's greeting, and what it hears when rank r says r / 10; its CPU tensors need Gloo."""
    said = roll_call(dist.get_rank() / 10) if backend == "gloo" else []
    return hello(), said


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--ranks", type=whole(1, 16), default=4)
    options.add_argument("--backend", choices=("gloo", "nccl"), default="gloo")
    arguments = options.parse_args(argv)
    ranks, backend = arguments.ranks, arguments.backend
    roll_call = part(arguments.code, "ch01.first_program", "roll_call")
    try:
        run = world.run(on_every_rank, roll_call, backend, ranks=ranks, backend=backend)
    except ValueError as error:
        options.error(str(error))
    print(run.text)
    header = ("rank", "process", "device", "hears the pairs", "hears the numbers", "sum of ranks")
    rows = [
        (one.rank, str(one.process), one.device, " ".join(map(str, one.pairs)), " ".join(map(str, said)), one.total)
        for one, said in run.values
    ]
    show(arguments, Table(header, rows))
    pairs = [[10 * rank, 10 * rank + 1] for rank in range(ranks)]
    numbers = [rank / 10 for rank in range(ranks)] if backend == "gloo" else []
    right = all(one.pairs == pairs and said == numbers for one, said in run.values)
    right &= all(one.total == sum(range(ranks)) for one, _ in run.values)
    return verdict(right, "every rank has the numbers of all ranks, in rank order, and their sum")


if __name__ == "__main__":
    sys.exit(main())
