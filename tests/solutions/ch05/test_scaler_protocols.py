"""The scales of three protocols: torch's own scaler as oracle, and each protocol's rule as its authors write it."""

from __future__ import annotations

from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.ch05.precision import LossScaler
from solutions.ch05.scaler_protocols import ScaleTooSmall, deepspeed_scales, final_scales, megatron_scales, torch_scales

SIXTEEN = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]

runs = st.lists(st.booleans(), max_size=40)
intervals = st.integers(1, 6)


class Megatron:
    """The trackers of ``DynamicGradScaler``, under its names."""

    def __init__(self, scale: float, interval: int, hysteresis: int) -> None:
        self.scale, self.interval, self.hysteresis = scale, interval, hysteresis
        self.growth_tracker, self.hysteresis_tracker = 0, hysteresis

    def update(self, found_inf: bool) -> float:
        if not found_inf:
            self.growth_tracker += 1
            if self.growth_tracker == self.interval:
                self.growth_tracker, self.hysteresis_tracker = 0, self.hysteresis
                self.scale *= 2
        else:
            self.growth_tracker = 0
            self.hysteresis_tracker -= 1
            if self.hysteresis_tracker <= 0:
                self.scale = max(self.scale / 2, 1.0)
        return self.scale


class DeepSpeed:
    """The counters of ``DynamicLossScaler``, under its names: iterations, not clean steps."""

    def __init__(self, scale: float, interval: int, delayed_shift: int) -> None:
        self.scale, self.interval, self.delayed_shift = scale, interval, delayed_shift
        self.cur_iter, self.last_overflow_iter, self.cur_hysteresis = 0, -1, delayed_shift

    def update(self, overflow: bool) -> float:
        if overflow:
            if self.delayed_shift == 1 or self.cur_hysteresis == 1:
                self.scale = max(self.scale / 2, 1.0)
            else:
                self.cur_hysteresis -= 1
            self.last_overflow_iter = self.cur_iter
        else:
            stable = self.cur_iter - self.last_overflow_iter - 1
            if stable > 0 and stable % self.interval == 0:
                self.cur_hysteresis = self.delayed_shift
                self.scale *= 2
        self.cur_iter += 1
        return self.scale


def test_one_list_of_overflows_and_three_results():
    scales = final_scales(SIXTEEN, init_scale=1024.0, interval=3)
    assert list(scales.values()) == [2048.0, 8192.0, 512.0, 2048.0]
    assert [name.split(",")[0] for name in scales] == ["torch.amp.GradScaler", "Megatron", "DeepSpeed", "DeepSpeed"]


@pytest.mark.parametrize("seed", range(20))
def test_torchs_row_is_torchs(seed):
    rng = Random(seed)
    flags = [rng.random() < 0.2 for _ in range(40)]
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler.scale(torch.zeros(1))
    seen = []
    for flag in flags:
        weight.grad = torch.tensor([float("inf") if flag else 0.0])
        scaler.step(optimizer)
        scaler.update()
        seen.append(scaler.get_scale())
    assert torch_scales(flags, 1024.0, 3) == seen


@given(runs, intervals, st.integers(1, 4))
def test_megatrons_row_follows_its_trackers(flags, interval, hysteresis):
    theirs = Megatron(1024.0, interval, hysteresis)
    assert megatron_scales(flags, 1024.0, interval, hysteresis) == [theirs.update(flag) for flag in flags]


@given(runs, intervals, st.integers(1, 4))
def test_deepspeeds_row_follows_its_counters(flags, interval, delayed_shift):
    theirs = DeepSpeed(2.0**60, interval, delayed_shift)
    assert deepspeed_scales(flags, 2.0**60, interval, delayed_shift) == [theirs.update(flag) for flag in flags]


@given(runs, intervals)
def test_without_hysteresis_megatron_is_torch_with_a_floor(flags, interval):
    ended = megatron_scales(flags, 1024.0, interval, hysteresis=1)
    scaler = LossScaler(1024.0, growth_interval=interval, min_scale=1.0)
    assert ended == [scaler.update(flag) for flag in flags]


def test_deepspeed_grows_a_step_later_than_torch():
    assert torch_scales([False] * 4, 8.0, 3) == [8, 8, 16, 16]
    assert deepspeed_scales([False] * 4, 8.0, 3) == [8, 8, 8, 16]


def test_deepspeed_ends_the_run_at_its_floor():
    with pytest.raises(ScaleTooSmall, match="step 2 overflowed at the smallest scale, 1"):
        deepspeed_scales([True] * 3, 4.0, 3)


def test_no_step_leaves_the_scale():
    assert set(final_scales([], 64.0, 3).values()) == {64.0}
