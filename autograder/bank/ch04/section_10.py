"""Section 4.10, Two trees: its questions."""

from __future__ import annotations

from functools import partial

from autograder.bank.ch04.quantities import all_reduce_ms
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, ms, us

algorithms = lazily("solutions.ch04.all_reduce_algorithms")
link = lazily("solutions.ch02.alpha_beta")


def _pipelined() -> float:
    chunks = link.best_chunks(4 * GB, 3, 50 * GB, 5 * us)
    return 2 * link.relay_time(4 * GB, 3, chunks, 50 * GB, 5 * us) / ms


def _children(tree: int, ranks: int, rank: int) -> list[int]:
    """The children of ``rank`` in one of the two trees."""
    return [child for child, parent in enumerate(algorithms.double_binary_tree(ranks)[tree]) if parent == rank]


def _child(index: int) -> int:
    """A child of rank 3 in the second tree of 8 ranks."""
    return _children(1, 8, 3)[index]


def _received(rank: int) -> int:
    """How many messages a rank receives in both trees of 8 ranks, up and down."""
    trees = algorithms.double_binary_tree(8)
    return sum(len(_children(index, 8, rank)) + (tree[rank] is not None) for index, tree in enumerate(trees))


QUESTIONS = (
    Question(
        id="04-tree-bytes",
        kind="derive",
        title="The busiest rank of two trees",
        section="4.10",
        bonus=True,
        ask="received",
        unit="times S",
        answer=lambda: max(_received(rank) for rank in range(8)) / 2,
        tolerance=0,
        slips=(
            Slip("That is one direction: sums come up and the total comes down.", value=1),
            Slip("That is an inner rank of one tree that carries all of S: each tree carries half.", value=3),
            Slip("That is one tree: in the other one this rank is a leaf, and receives as well.", value=1.5),
        ),
        derivation="Each tree carries $S/2$. Where a rank is inner it receives from at most two children and from its "
        "parent, three times $S/2$; where it is a leaf, from its parent alone.",
    ),
    Question(
        id="04-ring-tree",
        kind="derive",
        title="Ring, tree, double tree",
        section="4.10",
        bonus=True,
        parts=(
            Part(
                "ring",
                "ms",
                all_reduce_ms("ring", 4 * GB, 8, 50 * GB),
                slips=(
                    Slip("That is one phase.", value=all_reduce_ms("ring", 4 * GB, 8, 50 * GB, times=0.5)),
                    Slip(
                        "That is 2 S/B: the own chunk does not travel.",
                        value=all_reduce_ms("double_tree", 4 * GB, 8, 50 * GB),
                    ),
                ),
            ),
            Part(
                "tree of whole tensors",
                "ms",
                all_reduce_ms("tree", 4 * GB, 8, 50 * GB),
                slips=(
                    Slip(
                        "That is one way alone: the sums go up, then the total comes down.",
                        value=all_reduce_ms("tree", 4 * GB, 8, 50 * GB, times=0.5),
                    ),
                ),
            ),
            Part(
                "pipelined double tree",
                "ms",
                all_reduce_ms("double_tree", 4 * GB, 8, 50 * GB),
                slips=(
                    Slip(
                        "That is one way alone: the sums go up, then the total comes down.",
                        value=all_reduce_ms("double_tree", 4 * GB, 8, 50 * GB, times=0.5),
                    ),
                    Slip(
                        "That still waits on every level: chunks keep all levels busy.",
                        value=all_reduce_ms("tree", 4 * GB, 8, 50 * GB),
                    ),
                ),
            ),
        ),
        derivation="Without latency the ring takes $\\frac{2(N-1)}{N}\\,S/B$. A tree that passes whole messages waits "
        "for one on each of its $d = \\lceil\\log_2 N\\rceil$ levels, up and down: $2 d\\,S/B$. Two pipelined trees "
        "with half of the data each bring no rank more than $2S$: $2\\,S/B$. Here $N = 8$, $S = 4$ GB, $B = 50$ GB/s.",
    ),
    Question(
        id="04-pipelined-tree",
        kind="derive",
        title="A pipelined tree",
        section="4.10",
        bonus=True,
        ask="time",
        unit="ms",
        answer=_pipelined,
        slips=(
            Slip(
                "That leaves out the filling: the first chunk has to pass every level before the last one can.",
                value=all_reduce_ms("double_tree", 4 * GB, 8, 50 * GB, 5 * us),
            ),
            Slip(
                "That waits for the whole message on every level.",
                value=all_reduce_ms("tree", 4 * GB, 8, 50 * GB, 5 * us),
            ),
            Slip(
                "That is one way alone: the sums go up, then the total comes down.",
                value=lambda: _pipelined() / 2,
            ),
        ),
        derivation="A relay over $d$ levels in $k$ chunks takes\n\n$$(d + k - 1)\\left(\\alpha + \\frac{S}{k "
        "B}\\right),$$\n\nand its best $k$ is near $\\sqrt{(d-1)\\,S/(\\alpha B)}$. Twice that, with $d = 3$, $S = 4$ "
        "GB, $B = 50$ GB/s and $\\alpha = 5$ µs.",
    ),
    Question(
        id="04-two-trees",
        kind="trace",
        title="Children in the second tree",
        section="4.10",
        bonus=True,
        parts=tuple(
            Part(
                f"child with the {name} number",
                "rank",
                partial(_child, index),
                tolerance=0,
                slips=tuple(
                    Slip(f"Rank 3 takes the place of rank 4: {what}.", value=wrong) for what, wrong in slips.items()
                ),
            )
            for index, (name, slips) in enumerate(
                (
                    ("lower", {"take that one's children, and write 7 - r for each of them": 2}),
                    ("higher", {"take that one's children": 4, "write 7 - r for each of that one's children, too": 6}),
                )
            )
        ),
        derivation="For an even $N$ the second tree is the first with $N-1-r$ written for $r$. So rank 3 takes the "
        "place of rank 4 of the first tree, whose children are 2 and 6; write $7 - r$ for each of them.",
    ),
)
