"""Split layers on real ranks against the unsplit twin, finite differences and DTensor, and the ledger of their runs."""

from __future__ import annotations

import functools

import one_world
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn import functional

from rankzero import world
from solutions.ch03.collective_cost import traffic
from solutions.ch06.activations import tensor_parallel_traffic
from solutions.ch06.tensor_parallel import (
    ColumnParallelLinear,
    RowParallelLinear,
    copy_to_ranks,
    debug_g,
    parallel_mlp,
    reduce_from_ranks,
)

RANKS = [1, 2, 4]
Tensor = torch.Tensor


def drawn(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Normal numbers, the same in every process."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def leaves(*tensors: Tensor) -> list[Tensor]:
    return [tensor.clone().requires_grad_() for tensor in tensors]


def close(got: Tensor | None, expected: Tensor, tolerance: float = 1e-12) -> None:
    assert got is not None
    scale = max(1.0, float(expected.abs().max())) if expected.numel() else 1.0
    torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance * scale)


# f and g.


def pair(shape: tuple[int, ...], dtype: torch.dtype) -> dict[str, tuple]:
    """For f and g: the value, the gradient, and whether x and the upstream gradient are as they were."""
    rank, answers = dist.get_rank(), {}
    for name, operator in (("f", copy_to_ranks), ("g", reduce_from_ranks), ("fixed", debug_g)):
        (x,) = leaves(drawn(rank, *shape, dtype=dtype))
        upstream = drawn(10 + rank, *shape, dtype=dtype)
        before = upstream.clone(), x.detach().clone()
        y = operator(x)
        y.backward(upstream)
        unchanged = torch.equal(upstream, before[0]) and torch.equal(x.detach(), before[1])
        answers[name] = y.detach(), x.grad, unchanged
    return answers


PAIRS = (((), torch.float64), ((2, 1, 3, 2), torch.float32), ((0, 3), torch.float64))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(("shape", "dtype"), PAIRS)
def test_f_and_g_are_conjugate(ranks, shape, dtype):
    """Kills: identity both ways, all-reduce both ways, mean for sum, an all-reduce in place."""
    xs, upstreams = ([drawn(start + r, *shape, dtype=dtype) for r in range(ranks)] for start in (0, 10))
    summed, gradient = (torch.stack(parts).sum(0) for parts in (xs, upstreams))
    for rank, answers in enumerate(one_world.runs(pair, PAIRS, ranks)[shape, dtype].values):
        close(answers["f"][0], xs[rank], 1e-6)
        close(answers["f"][1], gradient, 1e-6)
        for name in ("g", "fixed"):
            close(answers[name][0], summed, 1e-6)
            close(answers[name][1], upstreams[rank], 1e-6)
        assert all(unchanged for _, _, unchanged in answers.values())


def awkward() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Strides of a transpose, an expanded gradient, and half precision."""
    (x,) = leaves(drawn(dist.get_rank(), 2, 3))
    reduce_from_ranks(copy_to_ranks(x.t())).sum().backward()
    (half,) = leaves(drawn(dist.get_rank(), 4, dtype=torch.bfloat16))
    y = reduce_from_ranks(half)
    copy_to_ranks(y).sum().backward()
    return reduce_from_ranks(x.detach().t()), x.grad, y.detach(), half.grad


def test_f_and_g_take_any_strides_and_half_precision():
    for total, gradient, half, half_gradient in world.run(awkward, ranks=2).values:
        close(total, (drawn(0, 2, 3) + drawn(1, 2, 3)).t())
        close(gradient, torch.full((2, 3), 2.0, dtype=torch.float64))
        close(half.double(), sum(drawn(r, 4, dtype=torch.bfloat16).double() for r in range(2)), 1e-2)
        close(half_gradient.double(), torch.full((4,), 2.0, dtype=torch.float64))


def second_derivative() -> str:
    (x,) = leaves(drawn(0, 3))
    (first,) = torch.autograd.grad((copy_to_ranks(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError) as caught:
        first.sum().backward()
    return str(caught.value)


def test_f_says_that_it_is_differentiable_once():
    assert "once_differentiable" in world.run(second_derivative, ranks=1).values[0]


def bent() -> tuple[float, float]:
    """The derivative of a split loss along a direction, by autograd and by central differences."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x, direction, step = drawn(0, 3, 8), drawn(1, 3, 8), 1e-5
    weights = drawn(2, 4 * 8, 8).chunk(4)

    def loss(x: Tensor) -> Tensor:
        parts = [torch.tanh(copy_to_ranks(x) @ w.t()) for w in weights[rank::ranks]]
        return (reduce_from_ranks(torch.stack(parts).sum(0)) ** 2).sum()

    (leaf,) = leaves(x)
    loss(leaf).backward()
    numeric = (loss(x + step * direction) - loss(x - step * direction)) / (2 * step)
    return float((leaf.grad * direction).sum()), float(numeric)


@pytest.mark.parametrize("ranks", RANKS)
def test_the_gradient_is_the_finite_difference(ranks):
    for exact, numeric in world.run(bent, ranks=ranks).values:
        assert exact == pytest.approx(numeric, rel=1e-6)


# Column and row.


def twin_linear(width_in: int, width_out: int, batch: tuple[int, ...], biased: bool) -> dict[str, Tensor]:
    x, weight, bias = leaves(drawn(0, *batch, width_in), drawn(1, width_out, width_in), drawn(2, width_out))
    y = functional.linear(x, weight, bias if biased else None)
    y.backward(drawn(3, *batch, width_out))
    return {"y": y.detach(), "x": x.grad, "weight": weight.grad, "bias": bias.grad}


def split_linear(width_in: int, width_out: int, batch: tuple[int, ...], biased: bool) -> dict[str, tuple]:
    """y, dx, dW, db of a column layer, a gathering one, and a row layer."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    full, weight, bias = drawn(0, *batch, width_in), drawn(1, width_out, width_in), drawn(2, width_out)
    upstream = drawn(3, *batch, width_out)
    bias = bias if biased else None
    runs = {
        "column": (ColumnParallelLinear(weight, bias), full, upstream.chunk(ranks, -1)[rank]),
        "gathered": (ColumnParallelLinear(weight, bias, gather_output=True), full, upstream),
        "row": (RowParallelLinear(weight, bias), full.chunk(ranks, -1)[rank], upstream),
    }
    answers = {}
    for name, (layer, given, gradient) in runs.items():
        (x,) = leaves(given)
        y = layer(x)
        y.backward(gradient)
        answers[name] = y.detach(), x.grad, layer.weight.grad, None if layer.bias is None else layer.bias.grad
    return answers


LAYERS = ((4, 8, (), True), (12, 4, (3, 2), False), (8, 8, (5,), True))


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", LAYERS, ids=str)
def test_column_and_row_layers_are_the_unsplit_layer(ranks, case):
    twin, biased = twin_linear(*case), case[-1]
    for rank, answers in enumerate(one_world.runs(split_linear, LAYERS, ranks)[case].values):
        for name in ("column", "gathered"):
            y, dx, dw, db = answers[name]
            close(y, twin["y"] if name == "gathered" else twin["y"].chunk(ranks, -1)[rank])
            close(dx, twin["x"])
            close(dw, twin["weight"].chunk(ranks)[rank])
            assert db is None if not biased else torch.allclose(db, twin["bias"].chunk(ranks)[rank])
        y, dx, dw, db = answers["row"]
        close(y, twin["y"])
        close(dx, twin["x"].chunk(ranks, -1)[rank])
        close(dw, twin["weight"].chunk(ranks, 1)[rank])
        assert db is None if not biased else torch.allclose(db, twin["bias"])


def of_the_library(width: int) -> tuple[tuple, tuple]:
    """(y, dx, dW) of our column and row layers, and of ``nn.Linear`` under ColwiseParallel and RowwiseParallel."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (ranks,))
    weight, full = drawn(1, width, width), drawn(0, 3, width)
    found = []
    for style, split in ((ColwiseParallel(), ColumnParallelLinear), (RowwiseParallel(), RowParallelLinear)):
        ours = split(weight)
        theirs = nn.Linear(width, width, bias=False, dtype=torch.float64)
        theirs.weight.data.copy_(weight)
        theirs = parallelize_module(theirs, mesh, style)
        row = isinstance(ours, RowParallelLinear)
        given = full.chunk(ranks, -1)[rank].contiguous() if row else full
        a, b = leaves(given, given)
        for layer, x in ((ours, a), (theirs, b)):
            y = layer(x)
            (y**2).sum().backward()
            gradient = layer.weight.grad
            gradient = gradient.to_local() if isinstance(gradient, DTensor) else gradient
            dx = x.grad.to_local() if isinstance(x.grad, DTensor) else x.grad
            found.append((y.detach(), dx, gradient))
    return (found[0], found[2]), (found[1], found[3])


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_library_splits_alike(ranks):
    for ours, theirs in world.run(of_the_library, 8, ranks=ranks).values:
        for own, other in zip(ours, theirs, strict=True):
            for a, b in zip(own, other, strict=True):
                close(a, b)


def said(call) -> str:
    with pytest.raises(ValueError) as caught:
        call()
    return str(caught.value)


def complaints() -> list[str]:
    """What is said where sizes do not divide."""
    w = torch.zeros(6, 6)
    x = torch.zeros(1, 2, 6)
    square = (w, torch.zeros(6), w, torch.zeros(6))
    return [
        said(lambda: ColumnParallelLinear(w)),
        said(lambda: RowParallelLinear(w)),
        said(lambda: parallel_mlp(x, *square)),
    ]


def test_sizes_that_do_not_divide_are_named_on_every_rank():
    for sentences in world.run(complaints, ranks=4).values:
        assert sentences == [
            "weight must have a multiple of 4 rows, got (6, 6)",
            "weight must have a multiple of 4 columns, got (6, 6)",
            "up must have a multiple of 4 rows, got (6, 6)",
        ]


# The MLP.

H, FFN, BATCH = 8, 16, (2, 3)
MLP_SHAPES = ((*BATCH, H), (FFN, H), (FFN,), (H, FFN), (H,))


def mlp_inputs() -> list[Tensor]:
    return leaves(*(drawn(seed, *shape) for seed, shape in enumerate(MLP_SHAPES)))


@functools.cache
def twin_mlp() -> tuple[Tensor, ...]:
    x, up, up_bias, down, down_bias = mlp_inputs()
    y = functional.linear(functional.gelu(functional.linear(x, up, up_bias)), down, down_bias)
    y.backward(drawn(9, *BATCH, H))
    return y.detach(), *(t.grad for t in (x, up, up_bias, down, down_bias))


def split_mlp() -> tuple[Tensor, ...]:
    inputs = mlp_inputs()
    y = parallel_mlp(*inputs)
    y.backward(drawn(9, *BATCH, H))
    return y.detach(), *(tensor.grad for tensor in inputs)


@pytest.mark.parametrize("ranks", RANKS)
def test_the_mlp_is_its_twin_and_its_bytes_are_those_of_the_formula(ranks):
    """1 + 1 all-reduces, and half of what the formula says of a layer, which has attention too."""
    y, *gradients = twin_mlp()
    run = world.run(split_mlp, ranks=ranks)
    for rank, (value, dx, *own, down_bias) in enumerate(run.values):
        close(value, y)
        close(dx, gradients[0])
        close(down_bias, gradients[4])
        for mine, full, dim in zip(own, gradients[1:4], (0, 0, 1), strict=True):
            close(mine.chunk(ranks, dim)[rank], full.chunk(ranks, dim)[rank])
    expected = [] if ranks == 1 else ["all_reduce"] * 2
    tensor = 8 * 2 * 3 * H
    for rank in range(ranks):
        mine = [event for event in run.events if event.rank == rank]
        assert [event.operation for event in mine] == expected
        assert {event.sent for event in mine} <= {tensor}
    wire = len(expected) * traffic("all_reduce", tensor, ranks, 0)[0]
    assert 2 * wire == tensor_parallel_traffic(3, 2, H, ranks, element_bytes=8)


def mlp_of_the_library() -> tuple[Tensor, Tensor, dict, dict]:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = nn.Sequential(nn.Linear(H, FFN), nn.GELU(), nn.Linear(FFN, H)).double()
    x, *weights = mlp_inputs()
    for own, full in zip(model.parameters(), weights, strict=True):
        own.data.copy_(full)
    model = parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    with CommDebugMode() as forward:
        y = model(x)
    with CommDebugMode() as backward:
        y.backward(drawn(9, *BATCH, H))
    counts = [{str(name): n for name, n in mode.get_comm_counts().items()} for mode in (forward, backward)]
    return y.detach(), x.grad, *counts


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_library_splits_the_mlp_alike(ranks):
    """Its values, and its communication: one all-reduce each way."""
    y, dx, *_ = twin_mlp()
    for value, gradient, forward, backward in world.run(mlp_of_the_library, ranks=ranks).values:
        close(value, y)
        close(gradient, dx)
        assert [sum(counts.values()) for counts in (forward, backward)] == [1, 1]
        assert all("all_reduce" in name for name in (*forward, *backward))
