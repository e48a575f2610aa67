"""The capstone's bank: answers as the page prints them, what options say, records as arguments, drivers that crash."""

from __future__ import annotations

import contextlib
import itertools
import math
from random import Random

import pytest

from autograder import bank
from autograder.bank.ch15 import debug_atomic, design, shared
from autograder.items import Build, Case, Choice, Question
from autograder.marking import designs, values
from autograder.probes import cap
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import GB, hour, minute
from solutions.ch15.checkpointing import checkpoint_waste, optimal_checkpoint_interval
from solutions.ch15.failing_runs import simulate_run
from solutions.ch15.run_plan import memory_per_stage, partition_layers
from tests.autograder import handed_in

EXERCISES = {item.function: item for item in bank.of_chapter("ch15") if isinstance(item, Build)}
QUESTIONS = {item.id: item for item in bank.of_chapter("ch15") if isinstance(item, Question)}
CHOICES = {item.id: item for item in bank.of_chapter("ch15") if isinstance(item, Choice)}


#: Figures of the page that take all 405.85 billion parameters: they have to pass, too.
WITH_ALL_PARAMETERS = {
    "cap-attention-share": (4.17, 66.7),
    "cap-mfu-hours": (34.6,),
    "cap-mfu-point": (1.30,),
}


def answer(identifier: str) -> str:
    choice = CHOICES[identifier]
    return choice.options[choice.correct]


# The list.


@pytest.mark.parametrize("identifier", WITH_ALL_PARAMETERS)
def test_all_parameters_instead_of_matrix_parameters_pass(identifier):
    for part, value in zip(QUESTIONS[identifier].parts, WITH_ALL_PARAMETERS[identifier], strict=True):
        assert part.answer() == pytest.approx(value, rel=part.tolerance)


# What the options say.


def test_a_rounded_exponent_explains_the_gap():
    rounded, whole = (0.29 * 3.8e25**exponent for exponent in (0.53, 0.5378))
    assert rounded == pytest.approx(10.5e12, rel=0.01)
    assert whole == pytest.approx(16.55e12, rel=0.01)
    assert answer("cap-exponent").startswith("the exponent is cut short")


def stage_gigabytes(recompute: str = "none", shard: str = "optimizer+gradients") -> list[float]:
    """Memory of each stage in the paper's second layout: TP 8, CP 1, DP 128, 16 micro-batches of 8192 tokens."""
    stages = partition_layers(126, 16, 1, 1)
    rows = memory_per_stage(LLAMA3_405B, stages, 8, 1, 128, 16, 8192, shard=shard, recompute=recompute)
    return [row["total"] / GB for row in rows]


def test_cheap_recomputation_is_what_fits():
    most = [max(stage_gigabytes(kind, "optimizer")) for kind in shared.RECOMPUTE]
    assert most == pytest.approx([96.4, 62.2, 23.45], rel=2e-3)
    assert answer("cap-fits").startswith("The outputs of norms")


def test_half_an_hour_is_too_long_for_an_hour():
    best = optimal_checkpoint_interval(30 * minute, hour, "exact")
    assert optimal_checkpoint_interval(30 * minute, hour, "young") == hour
    assert best / minute == pytest.approx(41.9, abs=0.05)
    assert checkpoint_waste(best, 30 * minute, hour) == pytest.approx(0.7, abs=0.005)
    assert "shorter" in answer("cap-regime")


def test_rework_equals_writing():
    young = math.sqrt(2 * 98 * 86_400)
    assert 98 / young == pytest.approx(young / (2 * 86_400))
    assert answer("cap-half").startswith("as much rework")


def test_54_days_would_need_half_of_the_peak():
    assert 6 * 405_853_388_800 * 15.6e12 / (16_384 * 54 * 86_400 * 989.4e12) > 0.5
    assert answer("cap-54-days").startswith("a window")


def test_the_second_stage_is_the_fullest():
    gigabytes = stage_gigabytes()
    assert max(range(16), key=gigabytes.__getitem__) == 1
    assert max(gigabytes) == pytest.approx(83.8, rel=3e-3)
    assert answer("cap-fullest").startswith("the second")


def test_twice_the_gpus():
    """First-order waste at Young's interval, before and after the failures double."""
    stall, mtbf = 60.0, 11_135.0
    young = [math.sqrt(2 * stall * each) for each in (mtbf, mtbf / 2)]
    waste = [stall / best + best / 2 / each for best, each in zip(young, (mtbf, mtbf / 2), strict=True)]
    assert young[0] / young[1] == pytest.approx(math.sqrt(2)) == waste[1] / waste[0]
    assert "grows by √2" in answer("cap-double")


def test_weights_alone_go_on_without_an_error():
    assert answer("cap-weights-alone").startswith("it goes on without an error")


def test_the_split_keeps_the_budget():
    """The rule of 20 and what was trained spend the same; the first has the larger model."""
    assert pytest.approx(3.8e25, rel=0.01) == 6 * 405e9 * 15.6e12
    assert math.sqrt(3.8e25 / 120) == pytest.approx(563e9, rel=2e-3)
    assert answer("cap-split").startswith("runs of their own")


# The design.


def filled(count: int) -> float:
    """Idle over useful time of ``count`` micro-batches in chunks, played chunk by chunk on the first stage.

    A chunk of the first stage begins when its chunk before is done and the first micro-batch is back from the last
    stage.
    """
    begins, free = 0, 0
    for _ in range(design.CHUNKS):
        begins = max(begins, free)
        free, begins = begins + count, begins + design.PP
    end = free + design.PP - 1
    return end / (design.CHUNKS * count) - 1


@pytest.mark.parametrize("count", [1, 3, 8, 15, 16, 32, 128])
def test_idle_time_of_a_pipeline_that_is_not_full(count):
    """Kills the formula of a full pipeline where a replica has fewer micro-batches than stages."""
    assert design.overhead(count) == pytest.approx(filled(count))


def test_the_speed_outside_the_bubble_is_that_of_both_published_rows():
    speeds = [430e12 * (1 + 15 / 256), 400e12 * (1 + 15 / 128)]
    assert design.efficiency() * 989.4e12 == pytest.approx(sum(speeds) / 2)


def test_the_plan():
    """Kills a plan in which more GPUs are always better, and one in which only one size is right."""
    (item,) = design.QUESTIONS
    front = designs.front(item)
    assert {values[0] for values in front} == {4096, 8192, 16_384}
    assert {values[1] for values in front} == {1}
    wide, best = (item.simulate(gpus=gpus, recompute=1, minutes=20) for gpus in (32_768, 16_384))
    assert wide.costs[0] > best.costs[0]
    assert wide.costs[1] > 1.9 * best.costs[1]
    assert "80 GB" in item.simulate(gpus=16_384, recompute=0, minutes=20).broken
    assert "300 days" in item.simulate(gpus=2048, recompute=1, minutes=40).broken


def test_a_plan_by_hand():
    """16,384 GPUs, cheap recomputation, a save every 20 minutes."""
    useful = 6 * 403_747_897_344 * 2**24 / (16_384 * 989.4e12 * design.efficiency()) * 1.02
    sent = 127 / 128 * 6 * 3_187_703_808 / 50e9
    step = useful * (1 + 15 / 128) + max(0, sent - useful / 16)
    assert design.step_seconds(16_384, 1) == pytest.approx(step)
    mtbf = 54 * 86_400 / 419
    wall = mtbf / 1200 * math.exp(300 / mtbf) * math.expm1((1200 + 60) / mtbf)
    days = 15.6e12 / 2**24 * step * wall / 86_400
    told = design.whole_plan(16_384, 1, 20)
    assert told.costs == pytest.approx((days, 16_384 * days * 24 * 2 / 1e6))
    assert told.broken == ""


# Records and drivers.


def test_a_shape_travels_as_a_record_with_the_names_of_its_fields():
    """Kills: a hand-over in which ``model.layers`` is no attribute."""
    got = values.fresh(LLAMA3_405B)
    names = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab")
    assert [getattr(got, name) for name in names] == [getattr(LLAMA3_405B, name) for name in names]


def saved_at_once(disk, name, data):
    """A right program by another way: it syncs once more, and clears what an earlier crash left behind."""
    with contextlib.suppress(FileNotFoundError):
        disk.remove("new")
    disk.write("new", data)
    disk.sync("new")
    disk.rename("new", name)
    disk.sync(name)


def restored(fresh, saved):
    fresh.update(saved)
    return fresh


@pytest.mark.parametrize(("name", "program"), [("debug_atomic", saved_at_once), ("debug_resume", restored)])
def test_other_right_programs_pass(name, program):
    item = EXERCISES[name]
    cases = [*item.cases, *(case for _, drawn in item.hidden(Random(1)) for case in drawn)]
    assert not any(handed_in.faults(item, program, cases))


def test_a_resumed_job_ends_as_one_that_was_never_killed():
    """The driver's own claim: with everything restored, every moment of death gives the same weights and examples."""
    ends = [cap.killed(lambda _, saved: saved, 7, 29, 40, 8, kill_at) for kill_at in (8, 21, 39)]
    assert ends[0] == ends[1] == ends[2]
    assert ends[0] != cap.killed(lambda fresh, _: fresh, 7, 29, 40, 8, 21)


def test_a_crash_in_the_middle_is_seen():
    case = Case(({"latest.pt": "old"}, "latest.pt", "new"))
    report = debug_atomic.crashed(case, cap.crashed(lambda disk, name, data: disk.write(name, data), *case.args))
    assert report["after a crash"] == ["a part of a checkpoint", "the last checkpoint"]
    assert report["at the end"] == "a part of a checkpoint"
    assert not report["wrote beside it"]


def test_an_iterator_of_failures_is_walked_once():
    """Half of the hidden walks come as iterators: a program that walks twice finds nothing the second time."""
    item = EXERCISES["simulate_run"]

    def walks_twice(work, interval, checkpoint_time, restart_time, failure_gaps):
        sum(1 for _ in failure_gaps)
        return item.solution()(work, interval, checkpoint_time, restart_time, failure_gaps)

    hidden = [case for _, drawn in item.hidden(Random(1)) for case in drawn if not case.raises]
    assert any(handed_in.faults(item, walks_twice, hidden))


def test_a_published_figure_stands_among_the_cases_of_each_core_item():
    public = {name: repr(item.cases) for name, item in EXERCISES.items()}
    assert "405853388800" in public["checkpoint_write_time"]
    assert all("Llama 3.1 405B" in public[name] for name in ("memory_per_stage", "traffic_per_gpu", "run_report"))
    assert Case((126, 16, 1, 1)) in EXERCISES["partition_layers"].cases


def test_gaps_that_never_end():
    run = simulate_run(100.0, 30.0, 5.0, 10.0, itertools.repeat(60.0))
    assert run["useful"] == 100.0
    answer = cap.failing(simulate_run, 100.0, 30.0, 5.0, 10.0, itertools.repeat(60.0))
    assert answer == {"run": run, "taken": run["failures"] + 1}


def test_there_is_one_segment_at_least():
    run = simulate_run(3600.0, 1e13, 5.0, 10.0, [])
    assert run == {"wall": 3605.0, "useful": 3600.0, "checkpoint": 5.0, "lost": 0.0, "restart": 0.0, "failures": 0}
