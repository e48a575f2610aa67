"""The live runs of chapter 10: what must hold on every machine, however loaded; no time is compared with another."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from experiments.ch10 import dispatch_runs, overlap_runs, scheduling_runs
from experiments.ch10.timelines import eager_rows, gaps, graph_rows, step_rows, with_gaps
from rankzero.facts.units import us
from solutions.ch10.future_map import FutureMap
from solutions.ch10.scheduler import Scheduler
from solutions.ch10.scheduling import eager_time, graph_time, overlap_time
from solutions.ch10.token_budget import TokenBudgetScheduler

# Timelines.


@pytest.mark.parametrize("kernels", [[], [7 * us], [2 * us] * 9, [1 * us, 50 * us, 1 * us], [20 * us, 1 * us, 30 * us]])
def test_rows_end_when_the_formulas_say(kernels):
    for rows, time in (
        (eager_rows(kernels, 5 * us), eager_time(kernels, 5 * us)),
        (graph_rows(kernels, 9 * us), graph_time(kernels, 9 * us)),
    ):
        _, device = rows
        assert max((end for *_, end in device), default=0.0) == pytest.approx(time)
        idle = sum(end - start for _, start, end in gaps(device))
        assert idle + sum(kernels) == pytest.approx(time)
        spans = with_gaps(rows)[1]
        assert all(a[2] == pytest.approx(b[1]) for a, b in pairwise(spans))


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("times", [(2, 10, 1), (6, 5, 1), (6, 6, 2), (0, 1, 0)])
def test_steps_end_when_the_formula_says(overlap, times):
    for steps in (0, 1, 2, 7):
        cpu, device = step_rows(steps, *times, overlap=overlap)
        assert max((end for *_, end in (*cpu, *device)), default=0) == overlap_time(steps, *times, overlap)
        for row in (cpu, device):
            assert all(a[2] <= b[1] for a, b in pairwise(row))
        assert [name for name, *_ in cpu].count("process") == steps


# Operations and graphs.


def test_a_larger_tensor_takes_longer():
    times = {size: dispatch_runs.op_seconds(size, repeats=3) for size in (1, 4_000_000)}
    floor, bandwidth = dispatch_runs.floor_and_bandwidth(times)
    assert floor == times[1] > 0
    assert bandwidth > 0


def test_replayed_and_eager_agree():
    found = dispatch_runs.eager_and_graph("cpu", batch=3, runs=2, layers=5)
    assert (found.device, found.operations, found.difference) == ("cpu", 10, 0.0)


PITFALLS = {
    "stale_input": "[1.0, 1.0]",
    "rebound_output": "[0.0, 0.0]",
    "kept_view": "[5.0, 5.0]",
    "frozen_branch": "[-2.0, -2.0]",
    "broadcast_shape": "[11.0, 11.0, 11.0]",
    "another_shape": "an error at the copy",
    "random_numbers": "4 different masks",
}


@pytest.mark.parametrize("pitfall", dispatch_runs.PITFALLS, ids=lambda one: one.__name__)
def test_what_comes_out_of_a_mistake(pitfall):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        assert pitfall().got.startswith(PITFALLS.get(pitfall.__name__, "the host waits for a number"))


def test_only_a_rate_in_a_tensor_moves():
    assert dispatch_runs.weight_moves(False, (0.1, 0.5)) == pytest.approx((0.1, 0.1))
    assert dispatch_runs.weight_moves(True, (0.1, 0.5)) == pytest.approx((0.1, 0.5))


# Two threads.

MODEL_STEPS = 40


def overlapped(overlap: bool, **more) -> overlap_runs.OverlapRun:
    model = overlap_runs.small_model(MODEL_STEPS)
    return overlap_runs.overlap_run(overlap, overlap_runs.prompts(5), 14, model=model, **more)


def greedy(prompt: list[int], tokens: int) -> list[int]:
    """One prompt alone, without a cache."""
    model, found = overlap_runs.small_model(MODEL_STEPS), list(prompt)
    with torch.no_grad():
        for _ in range(tokens):
            found.append(int(model(torch.tensor([found]))[0, -1].argmax()))
    return found[len(prompt) :]


@pytest.mark.proof(part="runs")
def test_both_ways_say_what_the_model_says_alone():
    alone = [bytes(greedy(prompt, 14)).decode() for prompt in overlap_runs.prompts(5)]
    for side in (False, True):
        assert [*overlapped(side).texts] == alone


@pytest.mark.proof(part="runs")
def test_every_early_end_wastes_one_token_and_only_when_overlapped():
    ends = set()
    for eos in range(97, 123, 3):
        turn, side = overlapped(False, eos=eos), overlapped(True, eos=eos)
        assert turn.texts == side.texts
        assert (turn.ended, turn.wasted) == (side.ended, 0)
        late = sum(len(text) == 13 for text in side.texts)  # its last token of all: no step follows
        assert side.ended - late <= side.wasted <= side.ended
        assert side.sampled - side.wasted == turn.sampled
        ends.add(side.ended)
    assert len(ends) > 1


def test_the_log_holds_every_step():
    run = overlapped(True)
    assert [name for name, *_ in run.cpu].count("schedule") == run.steps == len(run.device)
    assert [name for name, *_ in run.cpu].count("process") == run.steps
    assert run.predicted > 0


def test_a_wrong_map_is_heard_in_the_main_thread():
    class Empty(FutureMap):
        def store(self, placeholders, tokens):
            """Stores nothing."""

    with pytest.raises(RuntimeError, match="is empty"):
        overlapped(True, futures=Empty)


def test_placeholders_become_the_tokens_of_the_step_before():
    trace = overlap_runs.placeholder_trace(3, 2, overlap_runs.small_model(MODEL_STEPS))
    assert len(trace) == 3
    for step in trace:
        assert all(token < 0 for token in step["written"])
        assert all(token >= 0 for token in step["read"])


def test_the_prompts_of_all_streams_have_to_fit_in_a_pass():
    with pytest.raises(ValueError, match="streams must be an integer from 1 to 10, got 11"):
        overlap_runs.placeholder_trace(3, 11)


def test_what_follows_a_stop_string_is_not_shown(monkeypatch):
    """Kills a run that ends in an error once a text has reached its stop string."""
    model = overlap_runs.small_model(MODEL_STEPS)
    (text, *_) = overlap_runs.overlap_run(False, model=model, new_tokens=12).texts
    words = overlap_runs.StreamingDetokenizer
    monkeypatch.setattr(overlap_runs, "_words", lambda vocabulary: words(vocabulary, (text[3:6],)))
    stopped = overlap_runs.overlap_run(True, model=model, new_tokens=12)
    assert stopped.texts[0] == text[: text.index(text[3:6])]


# The engine.


def small(long: int = 40):
    return scheduling_runs.long_model(long + 128)


def test_a_budget_bounds_every_step_and_changes_no_text():
    runs = {
        budget: scheduling_runs.budget_run(budget, long=40, streams=3, new_tokens=24, model=small())
        for budget in (8, 16, 0)
    }
    assert [run.prefill_steps for run in runs.values()] == [8, 4, 1]
    assert [run.longest_step for run in runs.values()] == [8, 16, 43]
    assert len({tuple(sorted(run.texts.items())) for run in runs.values()}) == 1
    for run in runs.values():
        assert all(step.decode == 3 for step in run.steps[: run.prefill_steps])  # no stream is skipped
        assert run.ttft > 0
        assert len(run.gaps) >= 3 * run.prefill_steps
        assert run.longest_gap == max(run.gaps)


def test_a_budget_must_leave_room_for_the_prompt():
    with pytest.raises(ValueError, match="budget must be more than streams = 7"):
        scheduling_runs.budget_run(7)


def test_streams_must_last_until_the_prompt_arrives():
    """Kills a run without end."""
    with pytest.raises(ValueError, match="new_tokens must be 0 or above 4, got 4"):
        scheduling_runs.budget_run(64, new_tokens=4)


def test_a_small_pool_changes_no_text_and_makes_work_twice():
    runs = [scheduling_runs.pool_run(blocks, 4, 8, 12, 4, model=small()) for blocks in (20, 12, 6)]
    assert [run.preemptions > 0 for run in runs] == [False, True, True]
    assert [run.computed > 4 * (8 + 12 - 1) for run in runs] == [False, True, True]
    assert len({run.texts for run in runs}) == 1
    assert all(run.generated == 4 * 12 for run in runs)
    assert [len(run.steps) for run in runs] == sorted(len(run.steps) for run in runs)
    assert all(step.blocks <= run.blocks for run in runs for step in run.steps)


def test_a_scheduler_without_finish_serves_too():
    """A class that has the three methods of the exercise and no more."""

    class Plain:
        def __init__(self, *settings):
            self._own = TokenBudgetScheduler(*settings)

        def __getattr__(self, name):
            if name == "finish":
                raise AttributeError(name)
            return getattr(self._own, name)

    assert scheduling_runs.pool_run(12, 4, 8, 12, 4, Plain, small()).generated == 48


@pytest.mark.proof(part="runs")
def test_a_prefix_cache_takes_fewer_than_half_as_many_passes():
    """What 10.5 says of its run: shared blocks and cached tokens, and a few preemptions."""
    without, shared = (scheduling_runs.watched_run(Scheduler, reuse) for reuse in (False, True))
    assert 2 * shared["steps"] < without["steps"]
    assert without["cached_tokens"] == without["preemptions"] == 0 < shared["preemptions"] < 6
    assert shared["computed_tokens"] < without["computed_tokens"] / 2
