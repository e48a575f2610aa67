"""Chapter 6: ``ColumnParallelLinear``, split linear layers."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.rules import bytes_of, calls_at_most
from autograder.bank.ch06.shared import A_VIEW, batches, several, tensor, vector
from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip, Tensor


def _column(
    rng: Random,
    ranks: int,
    out: int,
    width: int,
    batch: tuple[int, ...] = (3,),
    biased: bool = True,
    gather: bool = False,
) -> Case:
    weight, bias, x = tensor(rng, out, width), tensor(rng, out) if biased else None, tensor(rng, *batch, width)
    whole = tensor(rng, *batch, out)
    each = [whole if gather else tensor(rng, *batch, out // ranks) for _ in range(ranks)]
    return Case(tuple((weight, bias, x, back) for back in each), {"gather_output": True} if gather else {})


def _gathered(rng: Random) -> list[Case]:
    return [_column(rng, 2, 6, 5, (3,), True, True), _column(rng, 3, 6, 4, (2, 2), False, True)]


def _column_calls(case: Case) -> list[tuple[str, int]]:
    weight, _, x, _ = case.args[0]
    share = bytes_of(x) // weight.shape[1] * weight.shape[0] // len(case.args)
    gather = [("all_gather", share)] if case.kwargs.get("gather_output") else []
    return [("all_reduce", bytes_of(x)), *gather]


W = Tensor.of(range(1, 9), "float64", (4, 2))
_BLOCK = "full.chunk(dist.get_world_size(group), dim)[dist.get_rank(group)]"


EXERCISE = Build(
    "06 tensor_parallel.ColumnParallelLinear",
    section="6.13",
    topic="split linear layers",
    bonus=True,
    grade="world",
    probe="ch06.layer",
    rule=calls_at_most(
        _column_calls,
        "f sums the gradient of x in one all-reduce, and gather_output joins the slices in one all-gather",
        least=lambda case: sum(size for _, size in _column_calls(case)),
    ),
    cases=(
        Case(tuple((W, None, vector(1, 1), back) for back in (vector(1, 0), vector(0, 1)))),
        Case(tuple((W, None, vector(1, 1), vector(1, 0, 0, 1)) for _ in range(2)), {"gather_output": True}),
        _column(Random("column"), 3, 6, 4),
    ),
    groups=(
        listed(
            "two to four ranks",
            several(_column),
            "Rank r keeps the r-th block of rows, and each rank has a part of the gradient of x.",
        ),
        listed("batches", batches(_column), "There may be one rank, no bias, no batch or two dimensions of it."),
        listed("joined", _gathered, "With gather_output, each rank takes its own slice of the gradient."),
    ),
    slips=(
        Slip(
            "The input features were split: a column-parallel layer splits the output features.",
            edits=(
                ("_own_block(weight, 0, group)", "_own_block(weight, 1, group)"),
                (
                    "y = functional.linear(copy_to_ranks(x, self.group), self.weight, self.bias)",
                    "y = functional.linear(_own_block(x, -1, self.group), self.weight)\n"
                    "        y = _own_block(y, -1, self.group) + (0 if self.bias is None else self.bias)",
                ),
            ),
        ),
        Slip(
            "f is missing: each rank's gradient of x holds only what comes from its own slice.",
            edit=("copy_to_ranks(x, self.group)", "x"),
        ),
        Slip(
            "The slices were joined outside autograd: no gradient comes back.",
            edit=("_Join.apply(y, self.group)", "_Join.apply(y.detach(), self.group)"),
        ),
        Slip(
            "The bias was not split with the weight.",
            edits=(
                ("_parameter(_own_block(bias, 0, group))", "_parameter(bias)"),
                (
                    "self.weight, self.bias)",
                    "self.weight, None if self.bias is None else self.bias[: len(self.weight)])",
                ),
            ),
        ),
        Slip("Every rank keeps the first block.", edit=(_BLOCK, _BLOCK.replace("dist.get_rank(group)", "0"))),
        Slip(
            "The rows were dealt out in turn: a rank should keep consecutive ones.",
            edit=(
                _BLOCK,
                "full.index_select(\n"
                "        dim, torch.arange(dist.get_rank(group), full.shape[dim], dist.get_world_size(group))\n"
                "    )",
            ),
        ),
    ),
    rights=(
        Right(
            "a product and a sum of its own",
            edit=(
                "        y = functional.linear(copy_to_ranks(x, self.group), self.weight, self.bias)\n",
                "        y = copy_to_ranks(x, self.group) @ self.weight.t()\n"
                "        y = y if self.bias is None else y + self.bias\n",
            ),
        ),
        Right(
            "einsum, input features from the last",
            edit=(
                "        y = functional.linear(copy_to_ranks(x, self.group), self.weight, self.bias)\n",
                "        x, weight = copy_to_ranks(x, self.group).flip(-1), self.weight.flip(-1)\n"
                "        y = torch.einsum('...i,oi->...o', x, weight)\n"
                "        y = y if self.bias is None else self.bias + y\n",
            ),
        ),
    ),
    promises=(
        Promise("consecutive rows, copied from the full weight", edits=A_VIEW),
        Promise(
            "``[out / t]``, copied too",
            edit=(
                "None if bias is None else _parameter(_own_block",
                "None if bias is None else nn.Parameter(_own_block",
            ),
        ),
    ),
)
