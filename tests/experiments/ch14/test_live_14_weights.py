"""Weights that move between real processes."""

from __future__ import annotations

import math

import pytest
import torch

from experiments.ch14 import sync_runs as runs
from experiments.ch14.sync_runs import ROADS, Line, handle_sizes, line_of, road_times


def test_weights_arrive_on_every_road():
    """A road whose last byte does not arrive raises; times are positive, one for each size."""
    times = road_times((4096, 2**20), repeats=1)
    assert list(times) == list(ROADS)
    assert all(list(rows) == [4096, 2**20] and min(rows.values()) > 0 for rows in times.values())


def test_a_road_that_brings_nothing_is_noticed():
    """Kills a clock that stops before the weights are there."""

    def nothing(size, folder):
        yield None
        yield 0

    with pytest.raises(runs.world.WorldError, match="weights must arrive whole"):
        road_times((4096,), {"nothing": nothing}, repeats=1)


def test_a_pipe_that_brings_nothing_is_noticed():
    """Kills a receiver that holds what it waits for from the beginning."""

    def silent(size, folder):
        if runs.dist.get_rank() == 0:  # the trainer's weights are zeros
            runs.bytearray = lambda content: bytearray(len(content))
        yield from runs.pipe(size, folder)

    with pytest.raises(runs.world.WorldError, match="weights must arrive whole"):
        road_times((4096,), {"silent": silent}, repeats=1)


def test_each_size_is_warmed_up():
    """Kills a median of a cold lap and a warm one."""
    seen: list[int] = []

    def counted(size, folder):
        seen.append(size)
        yield None
        yield 7

    def laps(folder, roads, sizes, repeats):
        runs._laps(folder, roads, sizes, repeats)
        return seen

    found = runs.world.run(laps, None, {"counted": counted}, (8, 16), 2, ranks=2, backend="gloo").values[0]
    assert found == [8, 8, 8, 16, 16, 16]


def test_a_handle_is_as_long_for_a_large_tensor():
    small, large = handle_sizes((4_000, 40_000_000)).values()
    assert abs(small - large) < 16
    assert large < 1000


def test_a_line_and_a_level_one():
    assert line_of({size: 1e-3 + size / 1e9 for size in (10**6, 10**7, 10**8)}) == Line(
        pytest.approx(1e-3), pytest.approx(1e9)
    )
    flat = line_of({10**6: 0.001, 10**7: 0.0015, 10**8: 0.0012})
    assert flat == Line(0.0012, math.inf)
    assert flat.seconds(1e12) == 0.0012


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_handle_to_gpu_memory_reaches_another_process():
    times = road_times((2**20, 2**28), {"cuda": runs.cuda_ipc}, repeats=1)
    assert set(times["cuda"]) == {2**20, 2**28}
