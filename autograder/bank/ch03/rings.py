"""Chapter 03: the ring, in three build items: reduce-scatter, all-gather, all-reduce."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received, rules
from autograder.bank.groups import listed
from autograder.bank.vectors import alike, vector
from autograder.items import Build, Case, Group, Slip, Tensor


def uneven(rng: Random, ranks: int) -> int:
    """A length that ``ranks`` do not divide, and that gives each of them something."""
    return ranks * rng.randint(2, 12) + rng.randint(1, ranks - 1)


def _scattered_of_each(rng: Random) -> list[Case]:
    sizes = ((4, "float32"), (3, "int64"), (2, "float64"), (4, "int64"))
    return [alike(rng, ranks, uneven(rng, ranks), dtype) for ranks, dtype in sizes]


def few_elements(rng: Random) -> list[Case]:
    """One rank, fewer elements than ranks, or none."""
    return [alike(rng, ranks, count) for ranks, count in ((1, 5), (4, 3), (3, 1), (3, 0))]


def long_tensors(rng: Random) -> Case:
    ranks, dtype = rng.choice([3, 4]), rng.choice(["float32", "int64"])
    return alike(rng, ranks, rng.randint(4090, 4099), dtype)


RING_REDUCE_SCATTER = Build(
    id="03-ring-reduce-scatter",
    module="collectives",
    function="ring_reduce_scatter",
    grade="world",
    probe="ch02.written_over",
    section="3.6",
    topic="ring reduce-scatter",
    tolerance=1e-5,
    cases=(
        Case(args=tuple((Tensor.of([(r + 1) * v for v in (1, 2, 3, 4)], "int64"),) for r in range(4))),
        Case(args=tuple((Tensor.of([v + 10 * r for v in range(7)], "int64"),) for r in range(3))),
        Case(args=((Tensor.of([1.0, 2.0, 3.0]),), (Tensor.of([0.5, 0.25, 0.125]),))),
        Case(args=((Tensor.of([1.0, 2.0, 3.0]),),)),
    ),
    groups=(
        listed(
            "uneven chunks", _scattered_of_each, "Chunk sizes differ by one when the ranks do not divide the length."
        ),
        listed("few elements", few_elements, "There may be one rank, fewer elements than ranks, or no elements."),
        Group("long tensors", long_tensors, 1, "Tensors may be long: sends and receives then overlap."),
    ),
    slips=(
        Slip(
            "Rank r returned the complete sum of chunk r+1: to end with chunk r, rank r first sends chunk r-1.",
            edits=(
                ("chunks[(rank - step - 1) % ranks]", "chunks[(rank - step) % ranks]"),
                ("chunks[(rank - step - 2) % ranks]", "chunks[(rank - step - 1) % ranks]"),
                ("return chunks[rank]", "return chunks[(rank + 1) % ranks]"),
            ),
        ),
        Slip(
            "Rank r returned chunk r with only its own numbers in it: the walk began with chunk r, so the sum of chunk "
            "r was completed on rank r-1. To end with chunk r, rank r first sends chunk r-1.",
            edits=(
                ("chunks[(rank - step - 1) % ranks]", "chunks[(rank - step) % ranks]"),
                ("chunks[(rank - step - 2) % ranks]", "chunks[(rank - step - 1) % ranks]"),
            ),
        ),
        Slip(
            "Every step sent the rank's own numbers: send the partial sum that arrived in the step before.",
            edits=(
                ("    chunks = [", "    originals = x.tensor_split(ranks)\n    chunks = ["),
                ("partial = chunks[", "partial = originals["),
            ),
        ),
        Slip(
            "The buffer was read before `wait()`: until then nothing has to have arrived in it.",
            edits=(
                ("torch.empty_like(mine)", "torch.zeros_like(mine)"),
                (
                    "        _pass_right(partial, arrived)\n        mine += arrived",
                    "        mine += arrived\n        _pass_right(partial, arrived)",
                ),
            ),
        ),
        Slip(
            "The elements that N equal chunks leave over were dropped: cut with `tensor_split`.",
            edit=("x.tensor_split(ranks)]", "x[: len(x) // ranks * ranks].tensor_split(ranks)]"),
        ),
        Slip(
            "All ranks send first and wait for each other: use `isend`, or let one rank receive first.",
            edit=(
                "requests.append(dist.isend(outgoing, (rank + 1) % ranks))",
                "dist.send(outgoing, (rank + 1) % ranks)",
            ),
        ),
        Slip(
            "The sums were added into `x` itself: copy the chunks first.",
            edit=("[chunk.clone() for chunk in x.tensor_split(ranks)]", "x.tensor_split(ranks)"),
        ),
    ),
    rule=rules.every(rules.only_messages, rules.to_one_neighbour, rules.reduce_scatter_ledger, rules.no_empty_messages),
)


def _parts(rng: Random, sizes: list[int]) -> Case:
    """Parts of these sizes."""
    return Case(args=tuple((vector(rng, size), sizes) for size in sizes))


def _gathered_of_each(rng: Random) -> list[Case]:
    return [_parts(rng, rng.sample(range(1, 20), ranks)) for ranks in (4, 3, 2)]


def _equal_and_empty(rng: Random) -> list[Case]:
    return [_parts(rng, sizes) for sizes in ([5], [3, 3, 3, 3], [0, 0, 0], [0, 4, 0, 0])]


RING_ALL_GATHER = Build(
    id="03-ring-all-gather",
    module="collectives",
    function="ring_all_gather",
    grade="world",
    probe="ch02.written_over",
    section="3.7",
    topic="ring all-gather",
    cases=(
        Case(args=tuple((Tensor.of([r + 1.0]), [1, 1, 1, 1]) for r in range(4))),
        Case(args=tuple((Tensor.of([float(r)] * r), [0, 1, 2]) for r in range(3))),
        Case(args=((Tensor.of([0.0]), [1, 2, 0]), (Tensor.of([1.0, 1.0]), [1, 2, 0]), (Tensor.of([]), [1, 2, 0]))),
    ),
    groups=(
        listed("unequal parts", _gathered_of_each, "Parts may have different lengths."),
        listed("equal or empty", _equal_and_empty, "There may be one rank, equal parts, or empty parts."),
    ),
    slips=(
        Slip(
            "Every step sent the rank's own part: pass on what arrived last.",
            edit=(
                "_pass_right(parts[(rank - step) % ranks], ",
                "parts[(rank - step - 1) % ranks] = x.new_empty(sizes[(rank - 1) % ranks])\n        _pass_right(x, ",
            ),
        ),
        Slip(
            "The parts are in the order in which they arrived: put each at the place of its rank.",
            edit=("torch.cat(parts)", "torch.cat([parts[(rank - step) % ranks] for step in range(ranks)])"),
        ),
        Slip(
            "Every buffer has the size of this rank's own part: `sizes` says how long each part is.",
            edit=("[x.new_empty(size) for size in sizes]", "[x.clone() for _ in sizes]"),
        ),
    ),
    rule=rules.every(
        rules.only_messages,
        rules.to_one_neighbour,
        rules.all_gather_ledger,
        rules.no_empty_messages,
        least_received.heard(rules.other_parts),
    ),
)

ITEMS = (RING_REDUCE_SCATTER, RING_ALL_GATHER)
