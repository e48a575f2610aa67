"""The walk on paper, against the walk of a real run."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder import bank
from experiments.ch03.ring_trace import traced_contributions
from solutions.ch03.collectives import ring_all_reduce, ring_reduce_scatter
from solutions.ch03.ring_walk import complete_chunk, float32_sum, ring_order, ring_walk


@given(st.integers(1, 12), st.sampled_from([-1, 0]))
def test_every_rank_ends_with_one_complete_chunk(ranks, first):
    last = ring_walk(ranks, first)[-1]
    assert [row.index(ranks) for row in last] == [(rank + first + 1) % ranks for rank in range(ranks)]
    assert all(row.count(ranks) == 1 for row in last)
    assert complete_chunk(ranks, ranks - 1, first) == (ranks + first) % ranks


@given(st.integers(1, 12), st.sampled_from([-1, 0]), st.data())
def test_the_last_to_add_owns_the_chunk(ranks, first, data):
    chunk = data.draw(st.integers(0, ranks - 1))
    order = ring_order(ranks, chunk, first)
    assert sorted(order) == list(range(ranks))
    assert complete_chunk(ranks, order[-1], first) == chunk


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_a_real_run_walks_as_on_paper(ranks):
    """Kills: a picture drawn from the walk that was meant and not from the one that was run."""
    assert traced_contributions(ring_reduce_scatter, ranks) == ring_walk(ranks)
    next_chunk = bank.find("03-ring-reduce-scatter").program_of(bank.find("03-ring-reduce-scatter").slips[0])
    assert traced_contributions(next_chunk, ranks) == ring_walk(ranks, first=0)


def test_after_an_all_reduce_every_chunk_is_complete():
    steps = traced_contributions(ring_all_reduce, 4)
    assert steps[:4] == ring_walk(4)
    assert steps[-1] == [[4] * 4] * 4
    assert len(steps) == 1 + 2 * 3


@given(st.lists(st.floats(-1e9, 1e9, width=32), min_size=1, max_size=8))
def test_float32_sums_are_torchs(numbers):
    total = torch.zeros((), dtype=torch.float32)
    for number in numbers:
        total = total + torch.tensor(number, dtype=torch.float32)
    assert float32_sum(numbers) == float(total)


def big_and_small() -> list[float]:
    mine = (1e8, 1.0, -1e8, 1.0)[torch.distributed.get_rank()]
    return ring_all_reduce(torch.full((4,), mine)).tolist()


def test_the_order_of_a_ring_shows_in_float32():
    """1e8, 1, -1e8, 1: every chunk is added in another order, and all ranks hold the same bits."""
    from rankzero import world

    orders = [ring_order(4, chunk) for chunk in range(4)]
    on_paper = [float32_sum((1e8, 1.0, -1e8, 1.0)[rank] for rank in order) for order in orders]
    assert on_paper == [0, 1, 0, 1]
    assert world.run(big_and_small, ranks=4).values == (on_paper,) * 4
