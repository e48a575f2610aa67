"""Every collective on real ranks: what each rank holds before and after, in numbers that show where they came from.

python -m demos collective_sheet --operation all_gather --ranks 3
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch03.explorers import starting_blocks
from rankzero import world
from solutions.ch03.collective_semantics import OPERATIONS, REDUCTIONS


def on_every_rank(cases: list[tuple]) -> list[list[float] | None]:
    """The library's answer to each ``(operation, inputs, root, reduction)``, on this rank."""
    from experiments.ch03.library_collectives import library_collective

    return [library_collective(*case) for case in cases]


def agree(expected: Sequence[Sequence[float] | None], seen: Sequence[Sequence[float] | None]) -> bool:
    """Whether the library did what was expected, wherever it guarantees anything."""
    promised = [(a or [], b or []) for a, b in zip(expected, seen, strict=True) if a is not None]
    return all(len(a) == len(b) and all(map(math.isclose, a, b)) for a, b in promised)


def _row(values: Sequence[float] | None) -> str:
    return "-" if values is None else " ".join(f"{value:.6g}" for value in values)


def _picture(states: dict):
    from rankzero import figures

    return figures.block_picture(states)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--operation", choices=(*OPERATIONS, "all"), default="all")
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--root", type=whole(0, 7), default=0)
    options.add_argument("--reduction", choices=tuple(REDUCTIONS), default="sum")
    arguments = options.parse_args(argv)
    if arguments.root >= arguments.ranks:
        options.error(f"argument --root: must be less than --ranks, got {arguments.root}")
    names = OPERATIONS if arguments.operation == "all" else (arguments.operation,)
    starts = {name: starting_blocks(name, arguments.ranks, arguments.root) for name in names}
    cases = [(name, start, arguments.root, arguments.reduction) for name, start in starts.items()]
    run = world.run(on_every_rank, cases, ranks=arguments.ranks)
    states = {name: (start, [value[i] for value in run.values]) for i, (name, start) in enumerate(starts.items())}
    rows = [
        (name, rank, _row(before[rank]), _row(after[rank]))
        for name, (before, after) in states.items()
        for rank in range(arguments.ranks)
    ]
    show(arguments, Table(("operation", "rank", "before", "after"), rows), lambda: _picture(states))
    expected = part(arguments.code, "ch03.collective_semantics", "collective_outputs")
    right = all(agree(expected(*case), states[case[0]][1]) for case in cases)
    return verdict(right, f"collective_outputs of {arguments.code} says the same as the library")


if __name__ == "__main__":
    sys.exit(main())
