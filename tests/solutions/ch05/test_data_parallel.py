"""Gradients that agree, states and weights in slices: against one process, against PyTorch's own."""

from __future__ import annotations

import functools

import one_world
import pytest
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from rankzero import world
from solutions.ch05.buckets import assign_buckets
from solutions.ch05.data_parallel import ShardedAdamW, gather_parameter, reduce_to_slice, synchronize_gradients

# synchronize_gradients


class Tied(torch.nn.Module):
    """One weight used twice, a frozen one, and one that only rows of a kind use."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.twice = torch.nn.Linear(4, 4, dtype=torch.float64)
        self.frozen = torch.nn.Linear(4, 4, dtype=torch.float64).requires_grad_(False)
        self.sometimes = torch.nn.Linear(4, 4, bias=False, dtype=torch.float64)
        self.again = self.twice

    def forward(self, x: torch.Tensor, extra: bool) -> torch.Tensor:
        x = self.frozen(torch.tanh(self.twice(x)))
        return self.again(x + self.sometimes(x) if extra else x)


def _gradients(counts: tuple[int, ...], bucket_bytes: float) -> tuple[list, int]:
    """Only rank 0 uses the extra weight."""
    rank = dist.get_rank()
    torch.manual_seed(1)
    rows = torch.randn(sum(counts), 4, dtype=torch.float64).split(counts)[rank]
    model = Tied()
    if counts[rank]:
        model(rows, extra=rank == 0).square().mean().backward()
    calls = synchronize_gradients(model.parameters(), counts[rank], bucket_bytes)
    return [parameter.grad for parameter in model.parameters()], calls


def _joined(counts: tuple[int, ...]) -> list:
    """The plain twin: one process, the mean over all rows."""
    torch.manual_seed(1)
    parts = torch.randn(sum(counts), 4, dtype=torch.float64).split(counts)
    model = Tied()
    total = sum(model(part, extra=rank == 0).square().sum() for rank, part in enumerate(parts) if len(part))
    (total / (sum(counts) * 4)).backward()
    return [parameter.grad for parameter in model.parameters()]


@pytest.mark.parametrize("counts", [(7, 3), (1, 1, 1), (5, 0, 2, 4)])
def test_gradients_are_those_of_the_joined_batch(counts):
    """Kills the plain mean, a tied weight reduced twice, an unused one skipped, a rank that leaves."""
    run = world.run(_gradients, counts, 100.0, ranks=len(counts))
    for gradients, _ in run.values:
        for found, right in zip(gradients, _joined(counts), strict=True):
            assert (found is None) == (right is None)
            assert found is None or torch.allclose(found, right, rtol=0, atol=1e-14)


CAPS = (1.0, 150.0, 1e9)


@pytest.mark.parametrize("cap", CAPS)
def test_reductions_are_those_of_the_buckets(cap):
    run = one_world.runs(_gradients, tuple(((2, 2), cap) for cap in CAPS), 2)[(2, 2), cap]
    sizes = [8 * p.numel() for p in reversed(list(Tied().parameters())) if p.requires_grad]
    expected = len(assign_buckets(sizes, [cap]))
    assert [calls for _, calls in run.values] == [expected] * 2
    reductions = [event.sent for event in run.events if event.rank == 0]
    assert sum(reductions) == sum(sizes) + 8 * (1 + len(sizes))  # the count, and who holds a gradient
    assert len(reductions) == expected + 1


class Branches(torch.nn.Module):
    """One weight that all ranks use, one that rank 0 uses, one that no rank uses."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.all, self.first, self.nobody = (torch.nn.Linear(3, 3, dtype=torch.float64) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.all(x)
        return self.first(x) if dist.get_rank() == 0 else x


def _branches(under_ddp: bool) -> tuple[list, list]:
    """Gradients of a step, and weights after some of AdamW, which skips a parameter without a gradient."""
    torch.manual_seed(1 + dist.get_rank())
    model: torch.nn.Module = Branches()
    weights = list(model.parameters())
    if under_ddp:
        model = DistributedDataParallel(model, find_unused_parameters=True)
    optimizer = torch.optim.AdamW(weights, lr=0.1, weight_decay=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(4, 3, dtype=torch.float64)).square().mean().backward()
        if not under_ddp:
            synchronize_gradients(weights, 4)
        optimizer.step()
    return [weight.grad for weight in weights], [weight.detach() for weight in weights]


def test_a_weight_that_no_rank_uses_fares_as_under_ddp():
    """Kills zeros in place of None, by which AdamW decays a weight that has nothing to do with the loss."""
    both = one_world.runs(_branches, ((False,), (True,)), 2)
    mine, theirs = both[False,].values, both[True,].values
    for (gradients, weights), (right, trained) in zip(mine, theirs, strict=True):
        assert [gradient is None for gradient in gradients] == [False] * 4 + [True] * 2
        assert [gradient is None for gradient in right] == [False] * 4 + [True] * 2
        for one, other in zip([*gradients[:4], *weights], [*right[:4], *trained], strict=True):
            assert torch.allclose(one, other, rtol=0, atol=1e-12)
        assert all(map(torch.equal, weights[4:], list(Branches().parameters())[4:]))


def _in_place(dtype: torch.dtype) -> tuple[bool, torch.dtype, list[float]]:
    weight = torch.nn.Parameter(torch.zeros(2, 2, dtype=dtype).t())
    weight.grad = gradient = torch.full((2, 2), dist.get_rank() + 1.0, dtype=dtype)
    synchronize_gradients(iter([weight]), 1 + 2 * dist.get_rank())
    return weight.grad is gradient, weight.grad.dtype, weight.grad.flatten().tolist()


def test_gradients_keep_storage_and_type():
    for (dtype,), run in one_world.runs(_in_place, ((torch.float32,), (torch.bfloat16,), (torch.float64,)), 2).items():
        assert run.values == ((True, dtype, [1.75] * 4),) * 2


# ShardedAdamW


def _trained(kind: str, steps: int, options: dict) -> list[torch.Tensor]:
    """The same rows on any number of ranks; ``kind`` says who makes the steps."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
    rows = torch.randn(12, 5).chunk(dist.get_world_size())[dist.get_rank()]
    if kind == "sharded":
        optimizer = ShardedAdamW(model.parameters(), **options)
    elif kind == "zero redundancy":
        from torch.distributed.optim import ZeroRedundancyOptimizer

        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, **options)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), **options)
    for _ in range(steps):
        model.zero_grad()
        model(rows).square().mean().backward()
        if kind == "zero redundancy":
            synchronize_gradients(model.parameters(), len(rows))
        optimizer.step()
    return [parameter.detach() for parameter in model.parameters()]


OPTIONS = {"lr": 0.02, "betas": (0.8, 0.95), "eps": 0.01, "weight_decay": 0.3}


@functools.cache
def _plain() -> list[torch.Tensor]:
    return world.run(_trained, "plain", 10, OPTIONS, ranks=1).values[0]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_sharded_steps_are_those_of_plain_adamw(ranks):
    """A large eps, so that a sum is no mean; a large decay, so that Adam with L2 is another optimizer."""
    plain = _plain()
    for found in world.run(_trained, "sharded", 10, OPTIONS, ranks=ranks).values:
        for one, other in zip(found, plain, strict=True):
            assert torch.allclose(one, other, rtol=0, atol=1e-6)


def _both() -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    return _trained("sharded", 5, OPTIONS), _trained("zero redundancy", 5, OPTIONS)


def test_sharded_steps_are_those_of_the_librarys_own():
    mine, theirs = world.run(_both, ranks=2).values[0]
    for one, other in zip(mine, theirs, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-6)


def _held() -> tuple[int, int]:
    weight, unused = torch.nn.Parameter(torch.ones(66)), torch.nn.Parameter(torch.ones(1))
    optimizer = ShardedAdamW([weight, weight, unused.requires_grad_(False)], lr=1e-4)
    for _ in range(20):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    return optimizer.state_bytes(), int((weight < 1).sum())


@pytest.mark.parametrize(("ranks", "size"), [(1, 792), (2, 396), (3, 264), (4, 204)])
def test_states_fall_with_the_ranks(ranks, size):
    """12 bytes for each parameter of the slice; what is named twice or frozen is in no slice twice, or at all."""
    run = world.run(_held, ranks=ranks)
    assert run.values == ((size, 66),) * ranks
    calls = [(event.operation, event.sent) for event in run.events if event.rank == 0]
    padded = 4 * ranks * -(-66 // ranks)
    assert calls == [("reduce_scatter", padded), ("all_gather", padded // ranks)] * 20


def _small_steps() -> float:
    weight = torch.nn.Parameter(torch.ones(3, dtype=torch.bfloat16))
    optimizer = ShardedAdamW([weight], lr=1e-3, weight_decay=0.0)
    for _ in range(10):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    return float(weight.detach()[0])


def test_a_master_copy_remembers_small_steps():
    """Ten steps of 0.001 move a bf16 weight of 1, although each of them alone would round away."""
    assert world.run(_small_steps, ranks=2).values == (pytest.approx(0.99, abs=0.003),) * 2


# reduce_to_slice


def _reduced(shape: tuple[int, ...], micro_steps: int) -> tuple[torch.Tensor, bool]:
    """Gradients that differ by rank and micro-step."""
    kept, unchanged = None, True
    for step in range(micro_steps):
        torch.manual_seed(10 * step + dist.get_rank())
        gradient = torch.randn(shape, dtype=torch.float64)
        before = gradient.clone()
        kept = reduce_to_slice(gradient, kept)
        unchanged &= torch.equal(gradient, before)
    return kept, unchanged


@pytest.mark.parametrize("micro_steps", [1, 3])
@pytest.mark.parametrize(("ranks", "shape"), [(1, (2, 3)), (2, (3,)), (3, (4, 2)), (4, (5, 3))])
def test_slices_laid_end_to_end_are_the_mean_gradient(ranks, shape, micro_steps):
    """The plain twin: all gradients in one process; behind them there is padding."""
    run = one_world.runs(_reduced, ((shape, 1), (shape, 3)), ranks)[shape, micro_steps]
    slices, unchanged = zip(*run.values, strict=True)
    total = torch.zeros(shape, dtype=torch.float64)
    for step in range(micro_steps):
        for rank in range(ranks):
            torch.manual_seed(10 * step + rank)
            total += torch.randn(shape, dtype=torch.float64) / ranks
    whole, size = torch.cat(slices), total.numel()
    assert all(unchanged)
    assert torch.allclose(whole[:size], total.flatten(), rtol=0, atol=1e-14)
    assert whole[size:].abs().sum() == 0
    assert {len(one) for one in slices} == {-(-size // ranks)}


def test_a_slice_that_is_no_row_is_refused():
    with pytest.raises(ValueError, match="kept must be None or 1-D, got tensor"):
        reduce_to_slice(torch.ones(4), torch.ones(2, 1))


# gather_parameter


def _gathered(ranks: int, numel: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A loss of the whole weight, with factors that differ by rank."""
    rank = dist.get_rank()
    whole = torch.arange(1.0, numel + 1, dtype=torch.float64)
    shards = torch.nn.functional.pad(whole, (0, -numel % ranks)).chunk(ranks)
    shard = shards[rank].clone().requires_grad_()
    value = gather_parameter(shard, numel)
    ((rank + 1) * value**2).sum().backward()
    return value.detach(), shard.grad


@pytest.mark.parametrize(("ranks", "numel"), [(1, 5), (2, 3), (3, 7), (4, 2)])
def test_gathered_gradient_is_the_mean_over_ranks(ranks, numel):
    """The law: what comes back, laid end to end, is the gradient of the mean loss in one process."""
    values, gradients = zip(*world.run(_gathered, ranks, numel, ranks=ranks).values, strict=True)
    whole = torch.arange(1.0, numel + 1, dtype=torch.float64)
    assert all(torch.equal(value, whole) for value in values)
    mean = 2 * whole * (ranks + 1) / 2
    assert torch.allclose(torch.cat(gradients)[:numel], mean)
    assert torch.cat(gradients)[numel:].abs().sum() == 0


def _refused(shape: tuple[int, ...], numel: int) -> None:
    with pytest.raises((ValueError, TypeError), match="must"):
        gather_parameter(torch.ones(shape), numel)


def test_impossible_lengths_are_refused():
    assert len(one_world.runs(_refused, (((2, 2), 4), ((2,), 5), ((2,), -1), ((2,), True)), 2)) == 4
