"""Two trees for one all-reduce: which ranks forward in which tree, and what each rank receives when each carries half.

python -m demos trees --ranks 8
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch04.explorers import received_shares

Tree = Sequence[int | None]


def children(tree: Tree) -> list[list[int]]:
    """The children of every rank in a tree."""
    below: list[list[int]] = [[] for _ in tree]
    for rank, parent in enumerate(tree):
        if parent is not None:
            below[parent].append(rank)
    return below


def broken_law(trees: Sequence[Tree], ranks: int) -> str:
    """The first rule that two trees break, as a sentence; empty if they keep all of them."""
    for number, tree in enumerate(trees, start=1):
        if any(parent is not None and parent not in range(ranks) for parent in tree) or len(tree) != ranks:
            return f"a parent in tree {number} of {ranks} ranks is not a rank"
        below, depth = children(tree), 0
        seen = level = [rank for rank, parent in enumerate(tree) if parent is None]
        while level := [child for rank in level for child in below[rank]]:
            seen, depth = seen + level, depth + 1
        if sorted(seen) != list(range(ranks)) or tree.count(None) != 1:
            return f"tree {number} of {ranks} ranks does not reach every rank from one root"
        if max(map(len, below)) > 2 or depth > (ranks - 1).bit_length():
            return f"tree {number} of {ranks} ranks has a rank with three children, or too many levels"
    twice = [rank for rank, both in enumerate(zip(*map(children, trees), strict=True)) if all(both)]
    return "" if len(twice) <= ranks % 2 else f"of {ranks} ranks, {twice} pass on in both trees"


def _picture(trees: Sequence[Tree], received: Sequence[float]):
    from rankzero.figures import diagrams

    return diagrams.trees(trees, received, "tensors received")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 64), default=8)
    options.add_argument(
        "--check", type=whole(1, 2000), default=64, metavar="N", help="check the rules for up to N ranks"
    )
    arguments = options.parse_args(argv)
    double_binary_tree = part(arguments.code, "ch04.all_reduce_algorithms", "double_binary_tree")
    trees = double_binary_tree(arguments.ranks)
    most = min(arguments.check, 64) if arguments.quick else arguments.check
    broken = [
        law for ranks in {*range(1, most + 1), arguments.ranks} if (law := broken_law(double_binary_tree(ranks), ranks))
    ]
    if broken:
        print(f"{len(broken)} numbers of ranks break a rule; the first: {broken[0]}")
        return verdict(False, "the trees obey the rules")
    first, second = map(children, trees)
    received = received_shares(trees)
    rows = [
        (rank, " ".join(map(str, first[rank])) or "-", " ".join(map(str, second[rank])) or "-", received[rank])
        for rank in range(arguments.ranks)
    ]
    header = ("rank", "children in tree 1", "children in tree 2", "tensors received")
    show(arguments, Table(header, rows), lambda: _picture(trees, received))
    return verdict(max(received) <= 2, f"no rank receives more than two tensors, and the rules hold up to {most} ranks")


if __name__ == "__main__":
    sys.exit(main())
