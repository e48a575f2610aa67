"""Chapter 6: ``parallel_mlp``, column, then row."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.rules import bytes_of, calls_at_most
from autograder.bank.ch06.shared import tensor
from autograder.bank.groups import listed
from autograder.items import Build, Case, Right, Slip, Tensor


def _mlp(rng: Random, ranks: int, hidden: int, ffn: int, batch: tuple[int, ...]) -> Case:
    shapes = ((*batch, hidden), (ffn, hidden), (ffn,), (hidden, ffn), (hidden,), (*batch, hidden))
    return Case((tuple(tensor(rng, *shape) for shape in shapes),) * ranks)


def _ordinary_of_each(rng: Random) -> list[Case]:
    return [_mlp(rng, ranks, rng.randint(2, 6), 12, (rng.randint(1, 4),)) for ranks in (2, 3, 4)]


def _other_batches(rng: Random) -> list[Case]:
    return [_mlp(rng, 2, 4, 6, ()), _mlp(rng, 3, 3, 6, (2, 2)), _mlp(rng, 1, 5, 3, (2,)), _zero(rng, 4, 3, 8)]


def _zero(rng: Random, ranks: int, hidden: int, ffn: int) -> Case:
    """A zero input leaves what the biases make."""
    (_, *rest) = _mlp(rng, ranks, hidden, ffn, (2,)).args[0]
    return Case(((Tensor.of([0.0] * 2 * hidden, "float64", (2, hidden)), *rest),) * ranks)


_SECOND = "reduce_from_ranks(functional.linear(inner, _own_block(down, 1, group)), group)"


EXERCISE = Build(
    "06 tensor_parallel.parallel_mlp",
    section="6.3",
    topic="column, then row",
    grade="world",
    probe="ch06.mlp",
    rule=calls_at_most(
        lambda case: [("all_reduce", bytes_of(case.args[0][0]))] * 2,
        "one all-reduce forward and one backward are enough, each as large as x",
        least=lambda case: 2 * bytes_of(case.args[0][0]),
    ),
    cases=(
        _mlp(Random("mlp 2"), 2, 2, 4, (1,)),
        _mlp(Random("mlp 4"), 4, 2, 4, ()),
        _zero(Random("mlp 0"), 2, 2, 2),
        _mlp(Random("mlp 1"), 1, 2, 3, (1,)),
    ),
    groups=(
        listed(
            "two to four ranks",
            _ordinary_of_each,
            "The first layer puts out just the slice that the second one takes in.",
        ),
        listed(
            "batches",
            _other_batches,
            "There may be one rank, no batch dimension or two of them, or an input of zeros.",
        ),
    ),
    slips=(
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
    ),
    rights=(
        Right(
            "GELU written out",
            edit=(
                "    inner = functional.gelu(functional.linear(copy_to_ranks(x, group), rows, bias))",
                "    z = copy_to_ranks(x, group) @ rows.t() + bias\n    inner = z * (1 + torch.erf(z / 2**0.5)) / 2",
            ),
        ),
        Right(
            "the normal distribution function",
            edit=(
                "    inner = functional.gelu(functional.linear(copy_to_ranks(x, group), rows, bias))",
                "    z = functional.linear(copy_to_ranks(x, group), rows, bias)\n    inner = z * torch.special.ndtr(z)",
            ),
        ),
    ),
)
