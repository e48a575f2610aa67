"""The tree all-reduce against the library's, on real ranks; what it sends; and the fixed benchmark."""

from __future__ import annotations

import math

import one_world
import pytest
import torch
import torch.distributed as dist

from rankzero import world
from solutions.ch04.tree_collectives import debug_barrier, tree_all_reduce


def compared(elements: int, kind: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, bool]:
    """The tree's sum, the library's, and whether x is as before."""
    generator = torch.Generator().manual_seed(dist.get_rank())
    x = torch.randint(-1000, 1000, (elements,), generator=generator).to(kind)
    x = x / 7 if kind.is_floating_point else x
    before, expected = x.clone(), x.clone()
    dist.all_reduce(expected)
    return tree_all_reduce(x), expected, torch.equal(x, before)


CASES = ((37, torch.float32), (5000, torch.int64), (0, torch.float32))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize(("elements", "kind"), CASES)
def test_the_sum_is_the_librarys_on_every_rank(ranks, elements, kind):
    """Kills: a partner outside the world, a parent that answers too early, sums added into x."""
    values = one_world.runs(compared, CASES, ranks)[elements, kind].values
    for total, expected, unchanged in values:
        torch.testing.assert_close(total, expected)
        assert torch.equal(total, values[0][0])
        assert unchanged


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_the_ledger_of_a_tree(ranks):
    """2(N-1) messages of the whole tensor; rank 0 sends and receives one for each level. Kills: a star, a chain."""
    run = world.run(tree_all_reduce, torch.ones(10), ranks=ranks)
    sends = [event for event in run.events if event.operation == "send"]
    assert len(sends) == 2 * (ranks - 1)
    assert {event.sent for event in sends} <= {40}
    ledger, levels = run.ledger(), math.ceil(math.log2(ranks))
    assert ledger.sent(0) == ledger.received(0) == 40 * levels
    assert set(ledger.operations) <= {"send", "recv"}


def transposed() -> torch.Tensor:
    x = torch.arange(6.0).reshape(2, 3) + dist.get_rank()
    return tree_all_reduce(x.t())


def test_any_shape_and_any_strides():
    (total, other) = world.run(transposed, ranks=2).values
    assert torch.equal(total, 2 * torch.arange(6.0).reshape(2, 3).t() + 1)
    assert torch.equal(other, total)


def test_the_mended_benchmark_meets_once_and_times_its_calls():
    run = world.run(debug_barrier, torch.ones(10), 5, ranks=3)
    for rank, seconds in enumerate(run.values):
        mine = [event for event in run.events if event.rank == rank]
        assert [event.operation for event in mine] == ["barrier", *["all_reduce"] * 5]
        assert 5 * seconds >= sum(event.end - event.start for event in mine[1:]) * (1 - 1e-6)
