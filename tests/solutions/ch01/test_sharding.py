"""Shards against the library's ``DistributedSampler``, and an evaluation that no number of ranks changes."""

from __future__ import annotations

import math
import statistics
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DistributedSampler

from solutions.ch01.sharding import debug_eval, shard_indices


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("ranks", range(1, 10))
def test_shards_are_those_of_the_library(ranks, shuffle, drop_last):
    """0 to 40 samples; the shuffled order is the library's permutation under seed + epoch."""
    for samples in range(41):
        seed, epoch = 7, samples % 3
        order = None
        if shuffle:
            order = torch.randperm(samples, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
        for rank in range(ranks):
            sampler = DistributedSampler(range(samples), ranks, rank, shuffle=shuffle, seed=seed, drop_last=drop_last)
            sampler.set_epoch(epoch)
            assert shard_indices(samples, ranks, rank, order, drop_last) == list(sampler), samples


def test_worked_examples():
    assert [shard_indices(10, 4, rank) for rank in range(4)] == [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
    assert [shard_indices(10, 4, rank, drop_last=True) for rank in range(4)] == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert [shard_indices(2, 5, rank) for rank in range(5)] == [[0], [1], [0], [1], [0]]
    order = [5, 3, 1, 0, 4, 2]
    assert [shard_indices(6, 4, rank, order) for rank in range(4)] == [[5, 4], [3, 2], [1, 5], [0, 3]]


@given(st.integers(1, 60), st.integers(1, 17), st.data())
def test_every_sample_is_visited_and_ranks_are_equal(samples, ranks, data):
    """Kills blocks, seeds that differ, and ranks with unequal numbers."""
    order = data.draw(st.permutations(range(samples)))
    shards = [shard_indices(samples, ranks, rank, order) for rank in range(ranks)]
    assert {len(shard) for shard in shards} == {math.ceil(samples / ranks)}
    visits = Counter(sample for shard in shards for sample in shard)
    assert set(visits) == set(range(samples))
    assert max(visits.values()) - min(visits.values()) <= 1
    kept = [shard_indices(samples, ranks, rank, order, True) for rank in range(ranks)]
    assert sorted(sample for shard in kept for sample in shard) == sorted(order[: samples // ranks * ranks])


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=40), st.integers(1, 12))
def test_no_number_of_ranks_changes_the_mean(scores, ranks):
    assert debug_eval(scores, ranks) == pytest.approx(statistics.fmean(scores), rel=1e-9, abs=1e-9)


def test_padding_would_change_it():
    """Ten samples on four ranks, the first two right: over all visits 4 of 12, over the samples 2 of 10."""
    scores = [1.0, 1.0, *[0.0] * 8]
    visits = [scores[index] for rank in range(4) for index in shard_indices(10, 4, rank)]
    assert statistics.fmean(visits) == pytest.approx(4 / 12)
    assert debug_eval(scores, 4) == pytest.approx(0.2)
