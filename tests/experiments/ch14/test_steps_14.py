"""What chapter 14 draws step by step, and what others measured beside its functions."""

from __future__ import annotations

import itertools

import pytest

from autograder.bank.ch14 import section_05
from experiments.ch14 import lag_runs, machine_steps, published, run_steps, weight_steps
from rankzero.explore.scene import NARROW
from rankzero.explore.steppers import frames
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB
from solutions.ch14.rlhf_profile import (
    DISCARDABLE,
    Iteration,
    asynchronous_time,
    cycle,
    phase_seconds,
    sketch,
    synchronous_time,
    tenants,
)
from solutions.ch14.rlhf_schedule import memory_timeline
from solutions.ch14.weight_slots import StalenessGate, WeightSlots
from solutions.ch14.weight_sync import bucketed_sync_time, transition_cost

SCENES = {
    "token": (machine_steps.token_scene, 1),
    "memory": (machine_steps.memory_scene, 3),
    "deal": (weight_steps.deal_scene, 1),
    "buckets": (weight_steps.bucket_scene, 3),
    "torn": (weight_steps.torn_scene, 3),
    "regimes": (run_steps.regime_scene, 3),
    "gate": (run_steps.gate_scene, 3),
    "weights": (run_steps.weight_scene, 3),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_says_something_else(name):
    """Kills a picture that does not fit a phone (it raises), and a step without news."""
    scenes = frames(*SCENES[name])
    assert scenes[0].width <= NARROW
    assert len({scene.says for scene in scenes}) == len(scenes)
    assert len({scene.svg() for scene in scenes}) == len(scenes)


def test_a_small_gpu_has_room_for_each_phase_and_for_nothing_more():
    used = {name: machine_steps.units(name) for name in machine_steps.PHASES}
    assert used.pop("at once") > machine_steps.CAPACITY == max(used.values())
    assert used["generate"] + machine_steps.SIZES["optimizer"] > machine_steps.CAPACITY


def test_buckets_are_the_formula():
    stages = [1 / seconds for seconds in weight_steps.STAGES.values()]
    assert weight_steps.spans(True)[-1].end == bucketed_sync_time(weight_steps.BUCKETS, 1, stages)
    assert weight_steps.spans(False)[-1].end == weight_steps.BUCKETS * sum(weight_steps.STAGES.values())
    one_at_a_time = {span.stage: 0 for span in weight_steps.spans(True)}
    for span in weight_steps.spans(True):
        assert span.start >= one_at_a_time[span.stage]
        one_at_a_time[span.stage] = span.end


def test_a_nested_deal_is_the_transition_of_the_formula():
    elements = weight_steps.SHAPE[0] * weight_steps.SHAPE[1]
    assert set(weight_steps.received_by("rows2:2")) == {transition_cost(elements, 4, 1, 1, 2, 1, "nested").received}


def test_the_copy_is_torn_only_in_one_buffer():
    *single, pinned = weight_steps.MOMENTS
    assert set(single[-1][2]) == {"7", "8"}
    assert set(pinned[2]) == {"7"}
    for before, after in itertools.pairwise(single):
        assert all(old in (new, "7") for old, new in zip(before[0], after[0], strict=True))
        assert all(old in (new, " ") for old, new in zip(before[2], after[2], strict=True))


def test_the_traced_slots_of_the_page():
    """Version 3 has to wait: slot 1 is the latest, slot 0 is pinned."""
    slots = WeightSlots(2)
    assert slots.begin_publish() == 0
    slots.commit(1)
    assert slots.acquire() == (0, 1)
    assert slots.begin_publish() == 1
    slots.commit(2)
    assert slots.begin_publish() is None
    slots.release(0)
    assert slots.begin_publish() == 0


def test_periods_are_those_of_the_formulas():
    """In turn and behind a barrier; without one, at bound 2, the work of a batch over the slots."""
    work, longest = sum(run_steps.LENGTHS), max(run_steps.LENGTHS)
    assert run_steps.period("in turn") == synchronous_time(1, work / run_steps.SLOTS, run_steps.TRAIN, longest)
    assert run_steps.period("barrier") == max(longest, run_steps.TRAIN)
    pools = asynchronous_time(2, work / run_steps.SLOTS, run_steps.TRAIN, longest, rollout_gpus=1)
    assert run_steps.period("bound 2") == pools == 3
    assert run_steps.period("bound 1") > pools
    with pytest.raises(ValueError, match="way must be one of"):
        run_steps.course("bound")


def test_the_stepped_gate_is_the_exercise():
    _, _, batch, *_, ahead = run_steps.GATED
    for clock in run_steps.INSTANTS:
        gate = StalenessGate(batch, ahead, 100)
        for _ in range(run_steps.version(clock)):
            gate.advance()
        assert run_steps.limit(clock) == gate.capacity()
        assert run_steps.started(clock) <= run_steps.limit(clock)


def test_weighted_samples_average_as_the_meant_policy():
    assert run_steps.average(2) == pytest.approx(run_steps.average(1)) == 2.6
    assert run_steps.average(0) == 1.5
    assert run_steps.average(3) == pytest.approx(2.1)


def test_grpo_of_the_page_fits_when_only_what_is_rebuilt_leaves_and_ppo_does_not():
    def peak(algorithm: str, leaves: str) -> float:
        sizes = tenants(LLAMA3_70B.parameters, 64, algorithm=algorithm)
        return max(use.resident for use in memory_timeline(cycle(sizes, leaves), sizes, DISCARDABLE)) / GB

    assert peak("grpo", "nothing") > 80 > peak("grpo", "what is rebuilt") == pytest.approx(77.5, abs=0.05)
    assert peak("ppo", "what is rebuilt") > 80 > peak("ppo", "and optimizers")


def test_the_sketch_of_two_halves():
    """In turn 10.5 s for an update of two halves, side by side 6, all GPUs 5."""
    ends = {
        (where, when): max(end for row in sketch(where, when).values() for _, _, end in row)
        for where, when in (
            ("disaggregated", "synchronous"),
            ("disaggregated", "asynchronous"),
            ("colocated", "synchronous"),
        )
    }
    assert ends["disaggregated", "synchronous"] == pytest.approx(3 * 10.5)
    assert ends["colocated", "synchronous"] == pytest.approx(3 * 5)
    rows = sketch("disaggregated", "asynchronous")
    starts = [start for name, start, _ in rows["rollout"]]
    assert [later - earlier for earlier, later in itertools.pairwise(starts)] == [6, 6]


# Published


def test_two_pools_without_a_tail():
    """What the page decides: 128 and 128 of 256 GPUs against all in turn, all answers of one length."""
    work = Iteration(512, 100, 8192, critic=False)

    def of(gpus: int) -> tuple[float, float]:
        seconds = phase_seconds(LLAMA3_70B, gpus, work)
        return seconds["generate"], seconds["train"] + seconds["score"]

    turns = sum(of(256))
    pools = max(of(128)[0], of(128)[1])
    assert (turns, pools) == (pytest.approx(73.5, abs=0.1), pytest.approx(56.6, abs=0.1))


def test_verl_gains_nothing_from_the_last_doubling():
    """Writing: more than half shorter, then longer. Training: then 15 percent shorter, which no formula here says."""
    writing = [phases.writing for phases in published.VERL.values()]
    training = [phases.training for phases in published.VERL.values()]
    assert writing[1] < writing[0] / 2
    assert writing[2] > writing[1]
    assert training[2] / training[1] == pytest.approx(0.853, abs=0.001)
    assert pytest.approx(2.67, abs=0.005) == published.ASYNC_TIMES
    for phases in published.VERL.values():
        assert phases.writing + phases.looking + phases.training < phases.step


def test_sixteen_times_the_engines():
    grown = [times[256] / times[16] for times in (published.KIMI, published.DEEPSEEK)]
    assert grown == [pytest.approx(1.12, abs=0.005), pytest.approx(1.11, abs=0.005)]
    assert published.KIMI[256] == section_05.SECONDS


def test_slices_are_a_floor_that_no_transport_reaches():
    """A card at its peak would take 0.84 s for a slice of DeepSeek-V3. The bytes fell 18 times, the time 3.4 times."""
    floor = published.DEEPSEEK_BYTES / 32 / published.CARD
    assert floor == pytest.approx(0.84, abs=0.005)
    assert min(*published.RESHARD, *published.REFIT.values()) > 2 * floor
    assert published.REFIT["whole experts"] / published.REFIT["slices"] == pytest.approx(3.37, abs=0.005)
    assert pytest.approx(17.9, abs=0.05) == published.DEEPSEEK_BYTES / published.REFIT_LOADED
    assert published.DEEPSEEK_EXPERTS < published.DEEPSEEK_BYTES


def test_lags_and_bounds_agree_on_four():
    """With a correction four versions cost next to nothing in both; without one they cost something in both."""
    table = lag_runs.lag_table()
    free = table[0, "none"][0]
    assert free - table[4, "none"][0] == pytest.approx(0.3, abs=0.01)
    assert free - table[4, "decoupled"][0] < 0.03
    assert table[4, "none"][0] < table[4, "behaviour"][0] < table[4, "decoupled"][0]
    assert table[1, "decoupled"][0] < table[1, "none"][0]
    assert all(table[16, how][0] < 1.5 for how in lag_runs.CORRECTIONS)
    assert published.AREAL["decoupled"][4] - published.AREAL["behaviour"][4] > 15
    assert published.AREAL["behaviour"][4] < published.AREAL["behaviour"][16]


def test_settings_have_versions_and_sources():
    assert all(one.version and one.source for one in published.SETTINGS)
    assert {one.when for one in published.SETTINGS} == {"synchronous", "asynchronous"}
