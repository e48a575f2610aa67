"""Chapter 6: ``RowParallelLinear``, split linear layers."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.rules import bytes_of, calls_at_most
from autograder.bank.ch06.shared import A_VIEW, batches, draw_any, several, tensor, vector
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _row(rng: Random, ranks: int, out: int, width: int, batch: tuple[int, ...] = (3,), biased: bool = True) -> Case:
    weight, bias, back = tensor(rng, out, width), tensor(rng, out) if biased else None, tensor(rng, *batch, out)
    given = [tensor(rng, *batch, width // ranks) for _ in range(ranks)]
    return Case(tuple((weight, bias, x, back) for x in given))


V = Tensor.of(range(1, 9), "float64", (2, 4))


EXERCISE = Build(
    "06 tensor_parallel.RowParallelLinear",
    section="6.13",
    topic="split linear layers",
    bonus=True,
    grade="world",
    probe="ch06.layer",
    rule=calls_at_most(
        lambda case: [("all_reduce", bytes_of(case.args[0][3]))],
        "g sums the output once, and nothing else",
        least=lambda case: bytes_of(case.args[0][3]),
    ),
    cases=(
        Case(tuple((V, vector(100, 200), vector(1, 1), vector(1, 2)) for _ in range(2))),
        Case(tuple((V, None, vector(1, 1), vector(1, 2)) for _ in range(2))),
        _row(Random("row"), 3, 4, 6),
    ),
    groups=(
        Group(
            "two to four ranks",
            draw_any(_row),
            4,
            "Rank r keeps the r-th block of columns, and the bias is added to the sum.",
            several(_row),
        ),
        listed("batches", batches(_row), "There may be one rank, no bias, no batch or two dimensions of it."),
    ),
    slips=(
        Slip(
            "The bias was added before the sum: it counts t times.",
            edits=(
                ("functional.linear(x, self.weight)", "functional.linear(x, self.weight, self.bias)"),
                ("return y if self.bias is None else y + self.bias", "return y"),
            ),
        ),
        Slip(
            "Only rank 0 added the bias: the ranks no longer hold the same output.",
            edit=(
                "None if bias is None else _parameter(bias)",
                "_parameter(bias) if bias is not None and dist.get_rank(group) == 0 else None",
            ),
        ),
        Slip(
            "The partial sums were not added.",
            edit=(
                "reduce_from_ranks(functional.linear(x, self.weight), self.group)",
                "functional.linear(x, self.weight)",
            ),
        ),
        Slip(
            "The partial sums were averaged: add them.",
            edit=("self.weight), self.group)", "self.weight), self.group) / dist.get_world_size(self.group)"),
        ),
        Slip(
            "The output features were split: a row-parallel layer splits the input features.",
            edits=(
                ("_own_block(weight, 1, group)", "_own_block(weight, 0, group)"),
                ("else _parameter(bias)", "else _parameter(_own_block(bias, 0, group))"),
                (
                    "reduce_from_ranks(functional.linear(x, self.weight), self.group)",
                    "functional.linear(functional.pad(x, (0, self.weight.shape[1] - x.shape[-1])), self.weight)",
                ),
            ),
        ),
    ),
    rights=(
        Right(
            "a product",
            edit=("functional.linear(x, self.weight), self.group)", "x @ self.weight.t(), self.group)"),
        ),
        Right(
            "einsum, input features from the last",
            edits=(
                (
                    "functional.linear(x, self.weight), self.group)",
                    "torch.einsum('...i,oi->...o', x.flip(-1), self.weight.flip(-1)), self.group)",
                ),
                ("else y + self.bias", "else self.bias + y"),
            ),
        ),
    ),
    promises=(
        Promise("consecutive columns, copied from the full weight", edits=A_VIEW),
        Promise(
            "a copy of the whole bias",
            edit=("None if bias is None else _parameter(bias)", "None if bias is None else nn.Parameter(bias)"),
        ),
        Promise("is added once, afterwards", edit=("else y + self.bias", "else y + 2 * self.bias")),
    ),
)
