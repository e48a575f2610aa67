"""Buckets against torch's own assignment; exposed time against a clock that ticks."""

from __future__ import annotations

from random import Random

import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts.units import MiB
from solutions.ch05.buckets import assign_buckets, exposed_communication

# Buckets.


@pytest.mark.parametrize("seed", range(10))
def test_is_torchs_assignment_on_600_drawn_models(seed):
    rng = Random(f"buckets {seed}")
    for _ in range(60):
        sizes = [rng.choice((1, 7, 100, 400, 1024)) * rng.randint(1, 4) for _ in range(rng.randint(1, 60))]
        limits = [rng.choice((1, 50, 400, 1000, 5000)) for _ in range(rng.randint(1, 3))]
        tensors = [torch.empty(size, dtype=torch.uint8) for size in sizes]
        expected, _ = dist._compute_bucket_assignment_by_size(tensors, limits)
        assert assign_buckets(sizes, limits) == expected


@pytest.mark.parametrize(
    ("sizes", "limits", "expected"),
    [
        ([0.75 * MiB, 0.5 * MiB, 10 * MiB, 10 * MiB, 10 * MiB], [MiB, 25 * MiB], [[0, 1], [2, 3, 4]]),
        ([30 * MiB, 1, 1], [MiB, 25 * MiB], [[0], [1, 2]]),
        ([0, 0, 5], [5], [[0, 1, 2]]),
        ([0, 0, 0], [5], [[0, 1, 2]]),
        ([0, 5, 0], [5], [[0, 1], [2]]),
        ([], [5], []),
    ],
)
def test_page_values(sizes, limits, expected):
    assert assign_buckets(sizes, limits) == expected


def test_forty_layers_under_the_defaults():
    assert [len(bucket) for bucket in assign_buckets([MiB] * 40, [MiB, 25 * MiB])] == [1, 25, 14]
    assert len(assign_buckets([MiB] * 40, [2**63])) == 1


sizes = st.lists(st.integers(0, 100), max_size=60)
limits = st.lists(st.integers(1, 150), min_size=1, max_size=3)


@given(sizes, limits)
def test_every_gradient_travels_once_and_only_the_last_bucket_may_be_short(sizes, limits):
    buckets = assign_buckets(sizes, limits)
    assert [index for bucket in buckets for index in bucket] == list(range(len(sizes)))
    for place, bucket in enumerate(buckets[:-1]):
        limit = limits[min(place, len(limits) - 1)]
        assert sum(sizes[index] for index in bucket[:-1]) < limit <= sum(sizes[index] for index in bucket)


# Exposed communication.


def ticked(compute: list[int], communication: list[int]) -> int:
    """The same in whole milliseconds, on a clock that ticks: one computer, one stream, a queue between them."""
    left, queue = list(compute), []
    clock = computed = ended = 0
    while computed < len(left) or any(queue):
        clock += 1
        queue = [transfer for transfer in queue if transfer]  # an empty one takes no time
        if queue:
            queue[0] -= 1
        if computed < len(left):
            left[computed] -= 1
            if not left[computed]:
                queue.append(communication[computed])
                computed, ended = computed + 1, clock
    return clock - ended


whole = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 15)), max_size=25)


@given(whole)
def test_is_what_a_ticking_clock_shows(rows):
    compute, communication = [row[0] for row in rows], [row[1] for row in rows]
    assert exposed_communication(compute, communication) == ticked(compute, communication)


@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 60))
def test_the_two_regimes_of_equal_layers(layers, computing, sending):
    """Story: one transfer is left while the stream keeps up, and the whole queue when it does not."""
    exposed = exposed_communication([computing] * layers, [sending] * layers)
    assert exposed == (sending if sending <= computing else computing + layers * sending - layers * computing)


@given(whole)
def test_lies_between_the_last_transfer_and_all_of_them(rows):
    compute, communication = [row[0] for row in rows], [row[1] for row in rows]
    exposed = exposed_communication(compute, communication)
    assert (communication[-1] if rows else 0) <= exposed <= sum(communication)
    assert exposed >= sum(communication) - sum(compute)


@pytest.mark.parametrize(
    ("compute", "communication", "expected"),
    [
        ([5e-3] * 40, [1.5e-3] * 40, 0.0015),
        ([5e-3] * 40, [7e-3] * 40, 0.085),
        ([1, 2, 3], [4, 0, 1], 1),
        ([1, 1, 1, 1], [4, 0, 0, 0], 1),
        ([1, 1, 1, 1], [0, 0, 0, 4], 4),
        ([0.01, 0.02, 0.005], [0.03, 0.001, 0.004], 0.01),
        ([0.2], [0.06], 0.06),
        ([], [], 0),
    ],
)
def test_page_values_of_exposure(compute, communication, expected):
    assert exposed_communication(compute, communication) == pytest.approx(expected, rel=1e-9)
