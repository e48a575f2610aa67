"""Chapter 3: ``collective_outputs``, what each collective means."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip

REDUCTIONS = ("sum", "avg", "product", "min", "max")
REDUCING = ("reduce", "all_reduce", "reduce_scatter")
ROOTED = ("broadcast", "scatter", "gather", "reduce")
OPERATIONS = ("broadcast", "scatter", "gather", "all_gather", "reduce", "all_reduce", "reduce_scatter", "all_to_all")


def _numbers(rng: Random, count: int) -> list[float]:
    return [rng.randint(-40, 40) / 4 for _ in range(count)]


def _case(rng: Random, operation: str, ranks: int, blocks: int, reduction: str = "sum") -> Case:
    """A call with ``blocks`` numbers for each rank, a random root, and None where an input does not count."""
    root = rng.randrange(ranks) if operation in ROOTED else 0
    inputs: list[list[float] | None] = [_numbers(rng, ranks * blocks) for _ in range(ranks)]
    if operation in ("broadcast", "scatter"):
        inputs = [row if rank == root else rng.choice([row, None]) for rank, row in enumerate(inputs)]
    return Case(args=(operation, inputs, root, reduction))


def _every_operation(rng: Random) -> list[Case]:
    sizes = ((rng.randint(3, 6), 2), (rng.randint(2, 4), 1))
    return [_case(rng, operation, *size) for operation in OPERATIONS for size in sizes]


def _every_reduction(rng: Random) -> list[Case]:
    return [_case(rng, operation, rng.randint(2, 4), 1, name) for operation in REDUCING for name in REDUCTIONS]


def _every_corner(rng: Random) -> list[Case]:
    """One rank, or empty lists."""
    return [_case(rng, operation, *size) for operation in OPERATIONS for size in ((1, 3), (3, 0))]


EXERCISE = Build(
    "03 collective_semantics.collective_outputs",
    section="3.12",
    topic="what each collective means",
    bonus=True,
    cases=(
        Case(args=("all_reduce", [[1.0], [2.0], [3.0], [4.0]])),
        Case(args=("reduce", [[1.0], [2.0], [3.0], [4.0]], 2)),
        Case(args=("reduce_scatter", [[(r + 1.0) * v for v in (1, 2, 3, 4)] for r in range(4)])),
        Case(args=("reduce_scatter", [[1.0, 2.0], [10.0, 20.0]])),
        Case(args=("all_to_all", [[10.0 * r + c for c in range(4)] for r in range(4)])),
        Case(args=("scatter", [[10.0, 20.0, 30.0, 40.0], None, None, None])),
        Case(args=("gather", [[1.0], [2.0], [3.0]], 1)),
        Case(args=("all_reduce", [[1.0], [2.0], [3.0], [4.0]]), kwargs={"reduction": "avg"}),
    ),
    groups=(
        listed("every operation", _every_operation, "Look at each operation alone, with 2 to 6 ranks and any root."),
        listed(
            "reductions",
            _every_reduction,
            "A reduction takes one number from each rank: sum, avg, product, min, max.",
        ),
        listed(
            "one rank, empty lists",
            _every_corner,
            "With one rank nothing changes; with empty lists, the ranks that get nothing still get None.",
        ),
    ),
    slips=(
        Slip(
            "`reduce_scatter` gave each rank the sum of its own list: it is the sum over all ranks of one chunk.",
            edit=("[*_blocks(total(), ranks)]", "[[REDUCTIONS[reduction](row)] if row else [] for row in lists]"),
        ),
        Slip(
            "`all_to_all` left every list as it was: block c of rank r goes to place r on rank c, a transpose.",
            edit=("for column in zip(*table, strict=True)", "for column in table"),
        ),
        Slip(
            "`gather` gave the result to every rank: only the root holds it.",
            edit=("at_root(_joined(lists))", "everywhere(_joined(lists))"),
        ),
        Slip(
            "`reduce` left the other ranks their input: nothing is promised there, and the library may overwrite it.",
            edit=("at_root(total())", "[total() if rank == root else lists[rank] for rank in range(ranks)]"),
        ),
        Slip(
            "`avg` was the sum: divide it by the number of ranks.",
            edit=("lambda numbers: sum(numbers) / len(numbers)", "sum"),
        ),
    ),
    rights=(
        Right(
            "the mean as shares",
            edit=("sum(numbers) / len(numbers)", "sum(number / len(numbers) for number in numbers)"),
        ),
        Right(
            "exact sums",
            edits=(
                ('"sum": sum,', '"sum": math.fsum,'),
                ("lambda numbers: sum(numbers) /", "lambda numbers: math.fsum(numbers) /"),
            ),
        ),
    ),
    promises=(
        Promise(
            "For ``broadcast`` and ``scatter`` only ``inputs[root]`` counts",
            edit=("[list(values or ()) for values in read]", "[list(values or ()) for values in inputs]"),
        ),
        Promise(
            "None where the library promises nothing",
            edit=("result if rank == root else None for rank", "result if rank == root else lists[rank] for rank"),
        ),
    ),
)
