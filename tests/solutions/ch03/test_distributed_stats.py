"""Statistics of spread numbers against the same numbers in one process."""

from __future__ import annotations

import functools
import random

import pytest
import torch
import torch.distributed as dist

from rankzero import world
from solutions.ch03.distributed_stats import distributed_argmax, distributed_mean, distributed_softmax

RANKS = [1, 2, 3, 4]


def spreads(ranks: int) -> list[list[torch.Tensor]]:
    """Parts for each rank: unequal, empty, tied, negative, large, and of every type."""
    rng = random.Random(ranks)
    drawn = [
        [torch.tensor([rng.uniform(-9, 9) for _ in range(rng.randint(0, 50))]) for _ in range(ranks)] for _ in range(6)
    ]
    fixed = [
        [torch.tensor([-3.0, -1.0, -1.0])] * ranks,
        [torch.tensor([]) if rank else torch.tensor([4.0]) for rank in range(ranks)],
        [torch.tensor([1e4, 1e4 - rank]) for rank in range(ranks)],
        [torch.tensor([-torch.inf] * rank + [-1e4]) for rank in range(ranks)],
        [torch.tensor([1.0, 1.0 + rank * 2.0**-40], dtype=torch.float64) for rank in range(ranks)],
        [torch.tensor([2.0**24, 1.0]) for _ in range(ranks)],
    ]
    return [parts for parts in [*drawn, *fixed] if any(len(part) for part in parts)]


def everything() -> list[tuple]:
    rank = dist.get_rank()
    results = []
    for parts in spreads(dist.get_world_size()):
        x = parts[rank].clone()
        results.append(
            (distributed_mean(x), distributed_argmax(x), distributed_softmax(x), torch.equal(x, parts[rank]))
        )
    return results


@functools.cache
def run(ranks: int) -> tuple[list[tuple], ...]:
    return world.run(everything, ranks=ranks).values


@pytest.mark.parametrize("ranks", RANKS)
def test_the_mean_is_that_of_all_elements(ranks):
    """Kills: the mean of the means, nan from an empty rank, a float32 sum."""
    for values in run(ranks):
        for parts, (mean, *_) in zip(spreads(ranks), values, strict=True):
            assert mean == pytest.approx(float(torch.cat(parts).double().mean()), rel=1e-12)


@pytest.mark.parametrize("ranks", RANKS)
def test_the_argmax_is_that_of_all_elements(ranks):
    """Kills: a start at 0, float32 packing, the highest rank on ties."""
    for values in run(ranks):
        for parts, (_, (value, rank, index), *_) in zip(spreads(ranks), values, strict=True):
            flat = torch.cat(parts)
            place = int(flat.argmax())  # the first of equals
            assert sum(len(part) for part in parts[:rank]) + index == place
            assert value == float(flat[place])


@pytest.mark.parametrize("ranks", RANKS)
def test_the_softmax_is_that_of_all_elements(ranks):
    """Kills: a maximum of each rank's own, no maximum at all."""
    for parts, *results in zip(spreads(ranks), *run(ranks), strict=True):
        whole = torch.softmax(torch.cat(parts), 0)
        torch.testing.assert_close(torch.cat([softmax for _, _, softmax, _ in results]), whole, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("ranks", RANKS)
def test_inputs_stay_as_they_are(ranks):
    assert all(unchanged for values in run(ranks) for *_, unchanged in values)


@pytest.mark.parametrize(
    ("function", "calls", "size"), [(distributed_mean, 1, 16), (distributed_argmax, 1, 16), (distributed_softmax, 2, 8)]
)
def test_few_bytes_travel(function, calls, size):
    """Kills: gathering all elements."""
    ledger = world.run(function, torch.arange(1000.0), ranks=3).ledger()
    assert [(ledger.calls(rank), ledger.sent(rank)) for rank in range(3)] == [(calls, size)] * 3


def test_an_empty_softmax_is_empty():
    assert [len(part) for part in world.run(distributed_softmax, torch.tensor([]), ranks=2).values] == [0, 0]
