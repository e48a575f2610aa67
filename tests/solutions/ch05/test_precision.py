"""The loss scale, against torch.amp.GradScaler step by step, and as laws."""

import math
from itertools import pairwise
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.ch05.precision import FLOAT32_MAX, LossScaler, dynamic_loss_scale

INF, NAN = math.inf, math.nan


class Torch:
    """torch.amp.GradScaler on the CPU, driven by gradients that are inf or zero."""

    def __init__(self, **settings):
        self.scaler = torch.amp.GradScaler("cpu", **settings)
        self.parameter = torch.nn.Parameter(torch.zeros(1))
        self.optimizer = torch.optim.SGD([self.parameter], lr=1.0)
        self.scaler.scale(torch.zeros(1))  # creates its state

    def update(self, found_inf):
        self.parameter.grad = torch.tensor([INF if found_inf else 0.0])
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return self.scaler.get_scale()


def random_run(seed):
    """Flags and settings; the scale stays inside float32 for all of them."""
    rng = Random(seed)
    rate = rng.choice((0.0, 0.02, 0.3, 0.9))
    flags = [rng.random() < rate for _ in range(rng.randint(0, rng.choice((12, 40))))]
    settings = {
        "init_scale": rng.choice((3.0, 12.5, 1000.0, 65536.0, 1e30, 1e38)),
        "growth_interval": rng.choice((1, 2, 3, 5, 7)),
        "growth_factor": rng.choice((1.1, 1.5, 2.0, 3.0)),
        "backoff_factor": rng.choice((0.25, 0.3, 0.5, 0.9) if rate == 0.9 else (0.1, 0.3, 0.5, 0.9)),
    }
    return flags, settings


@pytest.mark.parametrize("seed", range(10))
def test_every_step_of_1000_runs_is_torchs(seed):
    for number in range(100):
        flags, settings = random_run(100 * seed + number)
        theirs, ours = Torch(**settings), LossScaler(**settings)
        for flag in flags:
            assert ours.update(flag) == pytest.approx(theirs.update(flag), rel=1e-5)
            assert ours.growth_tracker == theirs.scaler.state_dict()["_growth_tracker"]


@pytest.mark.parametrize("seed", range(10))
def test_the_function_is_torch_with_its_factors(seed):
    for number in range(100):
        flags, settings = random_run(100 * seed + number)
        start, interval = min(settings["init_scale"], 1e20), settings["growth_interval"]
        theirs = Torch(init_scale=start, growth_interval=interval)
        for flag in flags:
            theirs.update(flag)
        assert dynamic_loss_scale(flags, start, interval) == pytest.approx(theirs.scaler.get_scale(), rel=1e-5)


@pytest.mark.parametrize("seed", range(60))
def test_a_saved_state_goes_on_in_torch_and_back(seed):
    rng = Random(f"resume {seed}")
    flags, settings = random_run(seed)
    theirs, ours = Torch(**settings), LossScaler(**settings)
    for flag in flags:
        theirs.update(flag)
        ours.update(flag)
    resumed_theirs, resumed_ours = Torch(init_scale=1.0), LossScaler(1.0)
    resumed_theirs.scaler.load_state_dict(ours.state_dict())
    resumed_ours.load_state_dict(theirs.scaler.state_dict())
    for _ in range(2 * settings["growth_interval"]):
        flag = rng.random() < 0.1
        expected = pytest.approx(ours.update(flag), rel=1e-5)
        assert theirs.update(flag) == expected
        assert resumed_theirs.update(flag) == expected
        assert resumed_ours.update(flag) == expected


@pytest.mark.parametrize("seed", range(40))
def test_unscale_is_torchs_on_real_tensors(seed):
    rng = Random(seed)
    scale = rng.choice((3.0, 8.0, 1024.0, 65536.0))
    gradients = [rng.gauss(0, 1) * 10 ** rng.uniform(-6, 6) for _ in range(rng.randint(1, 9))]
    gradients += rng.choice(([], [], [INF], [-INF], [NAN], [0.0]))
    theirs = Torch(init_scale=scale)
    theirs.parameter = torch.nn.Parameter(torch.zeros(len(gradients)))
    theirs.optimizer = torch.optim.SGD([theirs.parameter], lr=1.0)
    theirs.parameter.grad = torch.tensor(gradients)
    theirs.scaler.unscale_(theirs.optimizer)
    unscaled, found_inf = LossScaler(scale).unscale(gradients)
    assert unscaled == pytest.approx(theirs.parameter.grad.tolist(), rel=1e-5, nan_ok=True)
    theirs.scaler.step(theirs.optimizer)
    assert found_inf == bool((theirs.parameter == 0).all() and any(gradients))  # torch skipped the step


PAGE = [
    (([0, 1, 0, 1, 0],), {}, 16384),
    (([],), {}, 65536),
    (([0] * 1999,), {}, 65536),
    (([0] * 2000,), {}, 131072),
    (([0] * 6000,), {}, 524288),
    (([1] + [0] * 2000,), {}, 65536),
    (([0] * 8,), {"growth_interval": 4}, 262144),
    (([0, 0, 1, 0, 0, 0], 3.0, 3), {}, 3),
    (([0] * 3 + [1] + [0] * 3, 1000.0, 3), {}, 2000),
    (([0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0], 12.0, 2), {}, 96),
    (([0, 1] * 6, 100.0, 2), {}, 1.5625),
]


@pytest.mark.parametrize(("arguments", "settings", "expected"), PAGE)
def test_page_values(arguments, settings, expected):
    assert dynamic_loss_scale(*arguments, **settings) == pytest.approx(expected, rel=1e-12)


flags = st.lists(st.booleans(), max_size=60)
rules = st.fixed_dictionaries(
    {
        "init_scale": st.floats(1e-3, 1e6),
        "growth_interval": st.integers(1, 9),
        "growth_factor": st.floats(1.01, 4),
        "backoff_factor": st.floats(0.05, 0.95),
    }
)


@given(flags, st.floats(1e-3, 1e6), st.integers(1, 9))
def test_the_class_driven_by_the_flags_is_the_function(flags, start, interval):
    scaler = LossScaler(start, growth_interval=interval)
    for flag in flags:
        scaler.update(flag)
    assert scaler.scale == dynamic_loss_scale(flags, start, interval)


@given(flags, flags, rules)
def test_a_run_cut_in_two_and_resumed_is_the_whole_run(before, after, rules):
    """Kills a state that forgets the count of clean steps."""
    first, second, whole = LossScaler(**rules), LossScaler(), LossScaler(**rules)
    for flag in before:
        first.update(flag)
    second.load_state_dict(first.state_dict())
    for flag in after:
        second.update(flag)
    for flag in before + after:
        whole.update(flag)
    assert second.state_dict() == whole.state_dict()


@given(flags, rules, st.floats(0, 1))
def test_the_scale_stays_between_floor_and_float32(flags, rules, share):
    floor = share * rules["init_scale"]
    scaler = LossScaler(**rules | {"min_scale": floor})
    scales = [rules["init_scale"], *(scaler.update(flag) for flag in flags)]
    assert all(floor <= scale <= FLOAT32_MAX for scale in scales)
    assert all(later <= earlier for flag, (earlier, later) in zip(flags, pairwise(scales), strict=True) if flag)


@given(flags, st.floats(1e-3, 1e6), st.integers(1, 9))
def test_the_scale_is_proportional_to_its_start(flags, start, interval):
    """Kills shifts, `//` and rounding: nothing depends on powers of two."""
    thrice = dynamic_loss_scale(flags, 3 * start, interval)
    assert thrice == pytest.approx(3 * dynamic_loss_scale(flags, start, interval), rel=1e-12)


def test_grows_up_to_the_largest_float32_and_no_further():
    scaler = LossScaler(FLOAT32_MAX / 4, growth_interval=1)
    assert [scaler.update(False) for _ in range(4)] == [FLOAT32_MAX / 2, *[FLOAT32_MAX] * 3]
    assert torch.finfo(torch.float32).max == FLOAT32_MAX


def test_page_traces_of_the_class():
    scaler = LossScaler(1024.0, growth_interval=2)
    assert [scaler.update(flag) for flag in (False, False, True, False, False)] == [1024, 2048, 1024, 1024, 2048]
    assert scaler.growth_tracker == 0
    scaler = LossScaler(8.0)
    assert scaler.unscale([16.0, -4.0, INF]) == ([2.0, -0.5, INF], True)
    assert scaler.unscale([]) == ([], False)
    assert (scaler.scale, scaler.scale_loss(2.5)) == (8.0, 20.0)
    scaler = LossScaler(3.0, backoff_factor=0.5, min_scale=2.0)
    assert [scaler.update(True), scaler.update(True)] == [2, 2]


def test_a_count_beyond_the_interval_never_grows_until_an_overflow():
    scaler = LossScaler()
    state = {"scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3, "_growth_tracker": 5}
    scaler.load_state_dict(state)
    assert [scaler.update(False) for _ in range(4)] == [4, 4, 4, 4]
    assert scaler.growth_tracker == 9
    assert [scaler.update(flag) for flag in (True, False, False, False)] == [2, 2, 2, 4]


def test_a_state_without_a_floor_keeps_the_present_one():
    scaler = LossScaler(8.0, min_scale=2.0)
    scaler.load_state_dict(torch.amp.GradScaler("cpu", init_scale=4.0).state_dict())
    assert [scaler.update(True) for _ in range(3)] == [2.0, 2.0, 2.0]


def test_two_scalers_do_not_share_their_state():
    one, other = LossScaler(8.0), LossScaler(8.0)
    one.update(True)
    assert (one.scale, other.scale) == (4.0, 8.0)


@pytest.mark.parametrize("name", ["scale", "growth_tracker"])
def test_what_is_shown_cannot_be_set(name):
    with pytest.raises(AttributeError):
        setattr(LossScaler(), name, 1)


BAD = [
    *(("growth_interval", value) for value in (0, -1, 2.5, True)),
    *(("growth_factor", value) for value in (1.0, 0.5, INF, NAN)),
    *(("backoff_factor", value) for value in (0.0, 1.0, -0.5, NAN)),
    *(("min_scale", value) for value in (-1.0, 65537.0, NAN)),
]


@pytest.mark.parametrize(("name", "value"), [("scale", 0.0), ("_growth_tracker", -1), ("_growth_tracker", 0.5), *BAD])
def test_a_bad_state_is_refused_and_changes_nothing(name, value):
    scaler = LossScaler(8.0)
    before = scaler.state_dict()
    with pytest.raises(ValueError, match=f"^{name} must be .*, got {value}"):
        scaler.load_state_dict(LossScaler().state_dict() | {name: value})
    assert scaler.state_dict() == before
