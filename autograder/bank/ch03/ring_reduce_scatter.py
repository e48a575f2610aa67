"""Chapter 3: ``ring_reduce_scatter``, ring reduce-scatter."""

from __future__ import annotations

from random import Random

from autograder.bank import rules
from autograder.bank.ch03.shared import EMPTY, few_elements, long_tensors, scattered_leftwards, uneven
from autograder.bank.groups import listed
from autograder.bank.vectors import alike
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _scattered_of_each(rng: Random) -> list[Case]:
    sizes = ((4, "float32"), (3, "int64"), (2, "float64"), (4, "int64"))
    return [alike(rng, ranks, uneven(rng, ranks), dtype) for ranks, dtype in sizes]


EXERCISE = Build(
    "03 collectives.ring_reduce_scatter",
    section="3.6",
    topic="ring reduce-scatter",
    grade="world",
    probe="ch02.written_over",
    tolerance=1e-5,
    rule=rules.every(rules.only_messages, rules.to_one_neighbour, rules.reduce_scatter_ledger, rules.no_empty_messages),
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
        Group("long tensors", long_tensors, 1, "Tensors may be long: wait for a message before you use its buffer."),
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
    rights=(
        Right("the other way round", program=scattered_leftwards),
        Right(
            "added in float64",
            edit=(
                "        mine += arrived",
                "        mine.copy_(mine.double() + arrived if mine.is_floating_point() else mine + arrived)",
            ),
        ),
    ),
    promises=(
        Promise(
            "Only messages are used.", edit=("    return chunks[rank]", "    dist.barrier()\n    return chunks[rank]")
        ),
        Promise("empty chunks are not sent.", edits=EMPTY),
        Promise(
            "unchanged afterwards.",
            edit=("[chunk.clone() for chunk in x.tensor_split(ranks)]", "list(x.tensor_split(ranks))"),
        ),
        Promise(
            "Chunk r of the sum, a new tensor even with one rank.",
            edit=("    return chunks[rank]", "    return chunks[rank] if ranks > 1 else x"),
        ),
    ),
)
