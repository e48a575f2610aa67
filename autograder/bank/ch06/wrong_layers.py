"""Chapter 6: linear layers and an MLP that are split over ranks, as people get them wrong."""

from __future__ import annotations

from autograder.items import Slip

_BLOCK = "full.chunk(dist.get_world_size(group), dim)[dist.get_rank(group)]"

COLUMNS = (
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
            ("self.weight, self.bias)", "self.weight, None if self.bias is None else self.bias[: len(self.weight)])"),
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
)

ROWS = (
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
        edit=("reduce_from_ranks(functional.linear(x, self.weight), self.group)", "functional.linear(x, self.weight)"),
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
)

_SECOND = "reduce_from_ranks(functional.linear(inner, _own_block(down, 1, group)), group)"

MLPS = (
    Slip(
        "The inner activations were gathered: the second layer needs only the slice that a rank has.",
        edit=(f"{_SECOND} + down_bias", "functional.linear(_Join.apply(inner, group), down, down_bias)"),
    ),
    Slip(
        "GELU was applied after the sum: it belongs between the layers.",
        edits=(
            (
                "inner = functional.gelu(functional.linear(copy_to_ranks(x, group), rows, bias))",
                "inner = functional.linear(copy_to_ranks(x, group), rows, bias)",
            ),
            (_SECOND, f"functional.gelu({_SECOND})"),
        ),
    ),
    Slip(
        "Every rank added the second bias before the sum: it counts t times.",
        edit=(f"{_SECOND} + down_bias", _SECOND.replace("1, group))", "1, group), down_bias)")),
    ),
    Slip(
        "The gradient of the output was summed: it is complete on every rank.",
        edit=(_SECOND, f"copy_to_ranks({_SECOND}, group)"),
    ),
    Slip(
        "f is missing: each rank's gradient of x holds only what comes from its own slice.",
        edit=("copy_to_ranks(x, group)", "x"),
    ),
    Slip(
        "The weights were copied into new parameters, so no gradient reaches the tensors that were passed.",
        edits=(
            ("_own_block(up, 0, group)", "_parameter(_own_block(up, 0, group))"),
            ("_own_block(up_bias, 0, group)", "_parameter(_own_block(up_bias, 0, group))"),
            ("_own_block(down, 1, group)", "_parameter(_own_block(down, 1, group))"),
            ("+ down_bias", "+ _parameter(down_bias)"),
        ),
    ),
    Slip("That is the approximate GELU, with a tanh.", edit=("rows, bias))", 'rows, bias), approximate="tanh")')),
)
