"""Placements, memory by phase and the simulated asynchronous run, against enumeration, sets and a clock that ticks."""

from __future__ import annotations

import itertools
import math
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from experiments.ch14 import published
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB
from solutions.ch14.rlhf_profile import (
    DISCARDABLE,
    OFFLOADS,
    Iteration,
    asynchronous_time,
    cycle,
    flops_per_response_token,
    generation,
    phase_flops,
    phase_seconds,
    synchronous_time,
    tenants,
)
from solutions.ch14.rlhf_schedule import Placement, best_placement, debug_scaled_gen, memory_timeline, simulate_async

LLAMA = {
    "train_bytes": 36 * LLAMA3_70B.parameters,
    "rollout_bytes": 2 * LLAMA3_70B.parameters,
    "rollout_tp": 8,
    "gpu_memory": 80 * GB,
}

# --- best_placement


@pytest.mark.parametrize(
    ("tail", "kind", "rollout", "seconds"),
    [(0, "colocated", 100, 95.0), (60, "colocated", 100, 95.0), (100, "disaggregated", 60, 100.0)],
)
def test_placements_of_the_page(tail, kind, rollout, seconds):
    found = best_placement(100, 6000, 3500, tail, barrier=True)
    assert found == Placement(kind, rollout, 100 if kind == "colocated" else 100 - rollout, seconds)


@pytest.mark.parametrize(
    ("gpus", "tail", "reserve", "barrier", "wanted"),
    [
        (64, 0, 20, True, Placement("colocated", 64, 64, 120.0)),
        (64, 90, 0, True, Placement("disaggregated", 32, 32, 120.0)),
        (64, 90, 20, False, Placement("colocated", 64, 64, 150.0)),  # states of 79.4 GB leave no reserve on 32 GPUs
        (40, 0, 0, True, Placement("disaggregated", 8, 32, 480.0)),
        (40, 0, 20, False, None),
        (32, 0, 0, False, None),
        (128, 90, 20, True, Placement("disaggregated", 48, 80, 90.0)),
        (128, 90, 20, False, Placement("disaggregated", 64, 64, 60.0)),
    ],
)
def test_seventy_billion(gpus, tail, reserve, barrier, wanted):
    assert best_placement(gpus, 3840, 3840, tail, **LLAMA, reserve=reserve * GB, barrier=barrier) == wanted


def enumerated(gpus, generate, train, tail, train_bytes, rollout_bytes, tp, memory, reserve, floor, barrier):
    """Every pair of pools, and the kind as a third coordinate; no early exit, and fits judged after the time."""
    rows = []
    for rollout in range(gpus + 1):
        for colocated in (True, False):
            trainers = gpus if colocated else gpus - rollout
            if rollout == 0 or trainers == 0 or rollout % tp or (colocated and rollout != gpus):
                continue
            pools = [train_bytes / trainers + reserve, rollout_bytes / tp + reserve]
            loads = [sum(pools) - reserve] if colocated else pools
            wait = tail if barrier or colocated else 0.0
            phases = max(floor + generate / rollout, wait), train / trainers
            rows.append((sum(phases) if colocated else max(phases), not colocated, rollout, max(loads) <= memory))
    fitting = [row[:3] for row in rows if row[3]]
    return min(fitting, default=None)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**30))
def test_placement_against_enumeration(seed):
    rng = Random(seed)
    gpus, tp = rng.randint(1, 48), rng.choice((1, 1, 2, 4, 8))
    work = rng.uniform(1, 1e4), rng.uniform(1, 1e4), rng.choice((0.0, rng.uniform(0, 500)))
    memory = rng.choice((math.inf, 80 * GB))
    sizes = rng.uniform(0, 2000 * GB), rng.uniform(0, 200 * GB), tp, memory, rng.uniform(0, 30 * GB)
    sizes += (rng.choice((0.0, rng.uniform(0, 300))), rng.random() < 0.5)
    found, wanted = best_placement(gpus, *work, *sizes), enumerated(gpus, *work, *sizes)
    assert (found is None) == (wanted is None)
    if found is not None:
        assert found.iteration_time == pytest.approx(wanted[0])
        assert (found.kind == "disaggregated", found.rollout_gpus) == wanted[1:]


#: Seconds, or none: below the smallest normal number a quotient has hardly a digit left.
WORK = st.floats(0, 1e4).filter(lambda seconds: seconds == 0 or seconds > 1e-300)


@given(st.integers(2, 200), WORK, WORK, st.floats(0, 100), st.booleans(), st.sampled_from((0.0, 30.0)))
def test_two_pools_never_win_where_all_scales(gpus, generate, train, tail, barrier, floor):
    """Without a tail and a floor; and the helpers against the search."""
    best, together = asynchronous_time(gpus, generate, train), synchronous_time(gpus, generate, train)
    assert best >= together * (1 - 1e-12)
    found = best_placement(gpus, generate, train, tail, generate_floor=floor, barrier=barrier)
    pools = asynchronous_time(gpus, generate, train, tail, barrier=barrier, generate_floor=floor)
    assert found is not None
    assert found.iteration_time == pytest.approx(min(synchronous_time(gpus, generate, train, tail, floor), pools))


# --- three regimes


def test_three_regimes_against_the_simulation():
    """Four slots, batches of four responses of 6, 2, 2 and 2 s, 3 s of training: one longest response in each batch.

    A GPU is a slot here, and the trainer has four more. In turn and with a barrier the simulation is exact. Without a
    barrier the first updates have to wait for something to train on: the last ones count. A bound of one batch is less
    than the long response's age, so that some slots wait for the trainer still; with two none does.
    """
    lengths, work = [6, 2, 2, 2] * 12, (12, 12, 6)

    def seconds(run):
        ends = [end for _, end, _ in run.steps]
        return (ends[-1] - ends[5]) / (len(ends) - 6)

    turns, one, two = (simulate_async(lengths, 4, 4, 1, 3, 0, bound) for bound in (0, 1, 2))
    assert seconds(turns) == synchronous_time(4, *work) == 9
    ahead = simulate_async([6] * 12, 1, 1, 1, 3, 0, 1)  # the pool as one slot that is busy until a batch is finished
    assert seconds(ahead) == asynchronous_time(8, *work, rollout_gpus=4, barrier=True) == 6
    assert seconds(two) == asynchronous_time(8, *work, rollout_gpus=4) == 3
    assert 3 < seconds(one) < 6
    assert {max(ages) for _, _, ages in two.steps[2:]} == {2, 3}  # 6 s of writing, 3 s an update, and some in the queue


def test_decoding_has_a_floor():
    """The roofline of 14.1 is a floor and a work: a quarter of the GPUs takes 1.4 times as long."""
    work = Iteration(512, 100, 8192, critic=False)
    floor, shared = generation(LLAMA3_70B, work)
    for gpus in (64, 128, 256):
        assert phase_seconds(LLAMA3_70B, gpus, work)["generate"] == pytest.approx(floor + shared / gpus)
    assert (floor + shared / 64) / (floor + shared / 256) == pytest.approx(1.40, abs=0.005)
    learning = sum(phase_seconds(LLAMA3_70B, 256, work)[name] for name in ("score", "train")) * 256
    turns = synchronous_time(256, shared, learning, generate_floor=floor)
    pools = asynchronous_time(256, shared, learning, rollout_gpus=128, generate_floor=floor)
    assert (turns, pools) == (pytest.approx(73.5, abs=0.1), pytest.approx(56.6, abs=0.1))


@pytest.mark.parametrize("model", published.NEMO)
def test_published_updates_lie_between_the_regimes(model):
    """Two runs in turn say what does not scale; a run one step off is compared with what follows from each regime.

    If all of it were the longest response, a pool with a barrier would take at least as long. DeepSeek-V3's update is
    shorter by a quarter: that part cannot all be waiting behind a barrier. Qwen3-235B's is as long. No run is as fast
    as pools that share everything.
    """
    times = published.NEMO[model]
    floor, work = published.fitted(*times.on_policy)
    gpus, off = times.one_step_off
    assert (gpus, synchronous_time(gpus, work, 0, generate_floor=floor)) == times.on_policy[1]
    barrier = asynchronous_time(gpus, work / 2, work / 2, floor, barrier=True)
    assert barrier == pytest.approx(floor)
    assert off / barrier == pytest.approx({"DeepSeek-V3": 0.73, "Qwen3-235B": 1.01}[model], abs=0.005)
    assert asynchronous_time(gpus, work / 2, work / 2) < off < times.on_policy[1][1]


# --- memory_timeline


def test_memory_of_the_page():
    sizes = tenants(LLAMA3_70B.parameters, 64)
    uses = memory_timeline(cycle(sizes), sizes, DISCARDABLE)
    shown = [(one.name, *(round(x / GB, 4) for x in (one.resident, one.loaded, one.evicted))) for one in uses]
    assert shown == [
        ("generate", 66.4576, 4.4096, 26.4576),
        ("score", 8.8192, 0.0, 0.0),
        ("train", 47.2769, 26.4576, 4.4096),
    ]
    assert sum(sizes.values()) / GB == pytest.approx(109.325, rel=1e-5)


names = st.sampled_from("abcdefg")


@given(
    st.dictionaries(names, st.integers(0, 1000), min_size=7, max_size=7),
    st.lists(st.frozensets(names), max_size=5),
    st.frozensets(names),
)
def test_memory_against_movements(sizes, held, discardable):
    """Each tenant's own history, around the cycle: it is copied in once for each time that it comes."""
    uses = memory_timeline([(f"p{i}", tenants) for i, tenants in enumerate(held)], sizes, discardable)
    assert [one.name for one in uses] == [f"p{i}" for i in range(len(held))]
    loaded, evicted = [0] * len(held), [0] * len(held)
    for tenant, size in sizes.items():
        for place in range(len(held)):
            here, before = tenant in held[place], tenant in held[place - 1]
            loaded[place] += size * (here > before) * (tenant not in discardable)
            evicted[place] += size * (before > here) * (tenant not in discardable)
    assert [one.loaded for one in uses] == loaded
    assert [one.evicted for one in uses] == evicted
    assert [one.resident for one in uses] == [sum(sizes[t] for t in tenants) for tenants in held]
    assert sum(loaded) == sum(evicted)


def test_memory_without_a_phase_and_with_an_unknown_discardable():
    assert memory_timeline([], {}) == []
    assert memory_timeline([("p", {"a"})], {"a": 1}, {"other"})[0].loaded == 0


@pytest.mark.parametrize("algorithm", ["ppo", "grpo"])
def test_each_offload_takes_more_away(algorithm):
    sizes = tenants(1e9, 8, 2, algorithm=algorithm)
    held = [cycle(sizes, way) for way in OFFLOADS]
    for more, less in itertools.pairwise(held):
        assert all(after <= before for (_, before), (_, after) in zip(more, less, strict=True))
    assert all(tenants == set(sizes) for _, tenants in held[0])
    assert any("critic" in name for name in sizes) == (algorithm == "ppo")
    with pytest.raises(ValueError, match="offload"):
        cycle(sizes, "everything")


# --- simulate_async


@pytest.mark.parametrize(
    ("args", "total", "staleness"),
    [
        (([1] * 8, 2, 2, 1, 1, 0, 0), 8, [(0, 0)] * 4),
        (([1] * 8, 2, 2, 1, 1, 0, 1), 5, [(0, 0), (1, 1), (1, 1), (1, 1)]),
        (([4, 1, 1, 1, 4, 1, 1, 1], 4, 4, 1, 2, 0.5, 0), 13, [(0,) * 4] * 2),
        (([4, 1, 1, 1, 4, 1, 1, 1], 4, 4, 1, 2, 0.5, 1), 7.5, [(0,) * 4, (1,) * 4]),
        (([9] + [1] * 11, 2, 2, 1, 1, 0, 1), 11, [(0, 0), (1, 0), (1, 0), (1, 0), (4, 1), (1, 1)]),
        (([3, 3], 2, 4, 1, 1, 0, 0), 0, []),
        (([], 2, 4, 1, 1, 0, 0), 0, []),
    ],
)
def test_runs_of_the_page(args, total, staleness):
    run = simulate_async(*args)
    assert (run.total, [step[2] for step in run.steps]) == (total, staleness)


def test_the_tail_of_the_page():
    rng = Random(0)
    lengths = [min(4096, max(1, int(rng.lognormvariate(6, 1)))) for _ in range(512)]
    runs = {bound: simulate_async(lengths, 64, 64, 0.02, 20, 1, bound) for bound in (0, 1, 2, 4, 8)}
    assert [round(run.total) for run in runs.values()] == [709, 242, 203, 181, 181]
    means = [sum(sum(step[2]) for step in run.steps) / 512 for run in runs.values()]
    assert means == pytest.approx([0, 0.875, 1.625, 2.46875, 2.46875])
    assert runs[0].busy / 64 / runs[0].total == pytest.approx(0.147, rel=0.01)


def ticked(lengths, slots, batch, train, sync, bound):
    """The same with a clock of whole ticks: who is where is looked up at every tick."""
    starts, versions, ends, queue, trained = {}, {}, {}, [], set()
    version, step_end, steps = 0, None, []
    for tick in range(10_000):
        queue += sorted((one for one, end in ends.items() if end == tick), key=lambda one: one)
        if step_end == tick:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = tick + train + sync
            steps.append((tick, step_end, tuple(version - versions[one] for one in taken)))
            trained |= set(taken)
        while len(starts) < len(lengths):
            if sum(end > tick for end in ends.values()) >= slots:
                break
            if len(starts) >= (bound + version + 1) * batch:
                break
            one = len(starts)
            starts[one], versions[one], ends[one] = tick, version, tick + lengths[one]
        if step_end is None and len(starts) == len(lengths) and all(end <= tick for end in ends.values()):
            break
    total = steps[-1][1] if steps else 0
    busy = sum(starts[one] <= tick < ends[one] for tick in range(total) for one in starts)
    return total, tuple(steps), busy


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(1, 12), max_size=30),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_run_against_a_clock(lengths, slots, batch, train, sync, bound):
    run = simulate_async(lengths, slots, batch, 1, train, sync, bound)
    assert (run.total, run.steps, run.busy) == ticked(lengths, slots, batch, train, sync, bound)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=60), st.integers(1, 8), st.integers(0, 40))
def test_bound_zero_is_the_synchronous_formula(lengths, batch, train):
    """With a slot for each response of a batch: the longest of each batch, then the step."""
    assume(len(lengths) >= batch)
    run = simulate_async(lengths, batch, batch, 0.25, train, 0.5, 0)
    groups = [lengths[i : i + batch] for i in range(0, len(lengths) - batch + 1, batch)]
    assert run.total == sum(max(group) * 0.25 + train + 0.5 for group in groups)
    assert all(set(step[2]) == {0} for step in run.steps)


def test_a_step_without_duration_raises_the_version_first():
    """Kills a program that starts responses before such a step has ended."""
    run = simulate_async([1, 1, 1, 1], 2, 2, 1, 0, 0, 0)
    assert run.steps == ((1.0, 1.0, (0, 0)), (2.0, 2.0, (0, 0)))
    late = simulate_async([1, 2, 1], 2, 1, 1, 0, 0, 1)
    assert [step[2] for step in late.steps] == [(0,), (1,), (1,)]


# --- debug_scaled_gen


@given(st.lists(st.integers(1, 4096), max_size=40), st.integers(1, 64), st.integers(1, 256))
def test_generation_scales_and_the_longest_does_not(lengths, slots, gpus):
    seconds = debug_scaled_gen(lengths, slots, 0.5, gpus)
    assert seconds >= max(lengths, default=0) * 0.5
    assert seconds >= sum(lengths) * 0.5 / slots / gpus * (1 - 1e-12)
    assert seconds <= debug_scaled_gen(lengths, slots, 0.5, 1)


# --- rooflines


def test_phases_of_the_page():
    short = phase_seconds(LLAMA3_70B, 256, Iteration(512, 100, 50, 4))
    long = phase_seconds(LLAMA3_70B, 256, Iteration(512, 100, 8192, 1, critic=False))
    assert short["generate"] == pytest.approx(0.26, rel=0.02)
    assert short["train"] == pytest.approx(2.5, rel=0.03)
    assert long["generate"] == pytest.approx(49.5, rel=0.01)
    assert long["train"] == pytest.approx(17.6, rel=0.01)
    with pytest.raises(ValueError, match="rollout_tp"):
        phase_seconds(LLAMA3_70B, 12, Iteration())


def test_flops_of_a_response_token():
    assert flops_per_response_token(Iteration(epochs=4)) == 4 * 2 + 4 * 12
    assert flops_per_response_token(Iteration(epochs=1, critic=False)) == 2 + 2 + 6
    assert phase_flops(1.0, Iteration(2, 3, 4))["prefill"] == 2 * 2 * 3
