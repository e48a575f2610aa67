"""Chapter 03's bank: answers and slips of its questions, and the whole way of every exercise through the grader."""

from __future__ import annotations

import functools
import inspect
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from autograder import compare, predicting, trusted
from autograder.bank import ch03_collectives as bank
from autograder.bank import ch03_rules as rules
from autograder.exam import Exam
from autograder.items import Build, Case, Choice, Question, Tensor
from autograder.judge import Grading, judge
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit
from rankzero import world
from rankzero.events import Event

EXERCISES = [item for item in bank.ITEMS if isinstance(item, Build)]
PLAIN = [item for item in EXERCISES if item.grade == "call"]
WORLDS = [item for item in EXERCISES if item.grade == "world"]
QUESTIONS = [item for item in bank.ITEMS if isinstance(item, Question)]
CHOICES = [item for item in bank.ITEMS if isinstance(item, Choice)]
PARTS = [(item, place) for item in QUESTIONS for place in range(len(item.parts))]
PLAIN_SLIPS = [(item, slip) for item in PLAIN for slip in item.slips]
KEYS = range(20)


def named(value) -> str | None:
    if hasattr(value, "program"):
        return value.program.__name__
    return getattr(value, "id", None)


def hidden(item: Build, key: int) -> list[tuple]:
    return item.hidden(Random(f"key {key}"))


# The list.


def test_every_item_of_the_page_is_there():
    assert len({item.id for item in bank.ITEMS}) == len(bank.ITEMS)
    assert len(QUESTIONS) + len(CHOICES) == 19
    assert len(EXERCISES) == 10 + 3
    assert [item.function for item in EXERCISES if item.bonus] == ["all_to_all", "distributed_argmax"]


@pytest.mark.parametrize("item", EXERCISES, ids=named)
def test_an_exercise_is_named_after_its_function(item):
    assert item.id == "03-" + item.function.replace("_", "-")
    assert item.solution().__name__ == item.function


def test_items_stand_in_the_order_of_the_page():
    sections = [tuple(map(int, item.section.split("."))) for item in bank.ITEMS]
    assert sections == sorted(sections)
    assert {chapter for chapter, _ in sections} == {3}
    assert {section for _, section in sections} <= set(range(1, 12))


def test_the_bank_is_read_without_torch_and_without_solutions():
    code = (
        "import sys, autograder.bank.ch03_collectives; sys.exit('torch' in sys.modules or 'solutions' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# The questions.


@pytest.mark.parametrize(("item", "place"), PARTS, ids=named)
def test_the_answer_is_right_and_every_slip_is_named(item, place):
    part = item.parts[place]
    assert predicting.judge_number(part, part.answer()) == (True, "")
    for slip in part.slips:
        assert predicting.judge_number(part, predicting.slip_value(slip)) == (False, slip.sentence)


@pytest.mark.parametrize(("item", "place"), PARTS, ids=named)
def test_a_derivation_does_not_hold_the_result(item, place):
    """Short numbers may stand there as inputs."""
    result = f"{item.parts[place].answer():.7g}"
    assert len(result) < 3 or result not in item.derivation


@pytest.mark.parametrize("item", CHOICES, ids=named)
def test_every_wrong_option_has_its_sentence(item):
    assert set(item.slips) == set(range(len(item.options))) - {item.correct}


def swapped() -> tuple[float, float]:
    import torch
    import torch.distributed as dist

    a, b = torch.tensor([1.0]), torch.tensor([10.0])
    for tensor in (a, b) if dist.get_rank() == 0 else (b, a):
        dist.all_reduce(tensor)
    return float(a), float(b)


def left_over() -> float:
    import torch
    import torch.distributed as dist

    x = torch.tensor([dist.get_rank() + 1.0])
    dist.reduce(x, 0)
    return float(x)


def test_what_the_library_does_is_what_the_options_say():
    answers = {item.id: item.options[item.correct] for item in CHOICES}
    assert world.run(swapped, ranks=2).values == ((11, 11), (11, 11))
    assert answers["03-order-swap"].startswith("a = 11 and b = 11 on both ranks")
    assert world.run(left_over, ranks=4).values == (10, 9, 7, 4)
    assert answers["03-reduce-leftover"].startswith("no")


# Cases and slips, in this process.


@pytest.mark.parametrize("item", EXERCISES, ids=named)
def test_groups_have_the_cases_that_they_promise(item):
    for key in KEYS:
        assert all(len(cases) == group.count for group, cases in hidden(item, key))
    if item.grade == "world":
        drawn = [case for _, cases in hidden(item, 0) for case in cases]
        assert len(drawn) <= 10
        assert {len(case.args) for case in (*item.cases, *drawn)} <= {1, 2, 3, 4}


@pytest.mark.parametrize("item", PLAIN, ids=named)
@pytest.mark.parametrize("key", KEYS)
def test_the_reference_answers_as_the_cases_say(item, key):
    cases = [*item.cases, *(case for _, drawn in hidden(item, key) for case in drawn)]
    for case, outcome in zip(cases, trusted.run(item, item.solution(), cases), strict=True):
        assert (outcome.kind, outcome.error) == (("raised", case.raises) if case.raises else ("value", "")), case


@pytest.mark.parametrize(("item", "slip"), PLAIN_SLIPS, ids=named)
def test_no_key_lets_a_slip_pass(item, slip):
    """Two wrong answers at least, so that it can be named."""
    for key in KEYS:
        cases = [case for _, drawn in hidden(item, key) for case in drawn]
        expected, outcomes = (trusted.run(item, program, cases) for program in (item.solution(), slip.program))
        faults = [compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)]
        assert sum(fault is not None for fault in faults) >= 2, key


@pytest.mark.parametrize("item", PLAIN, ids=named)
def test_slips_differ_from_each_other(item):
    cases = [case for _, drawn in hidden(item, 0) for case in drawn]
    answers = [repr([(one.kind, one.value) for one in trusted.run(item, s.program, cases)]) for s in item.slips]
    assert len(set(answers)) == len(answers)


def test_every_key_asks_for_numbers_whose_order_matters():
    """Kills: a group in which all orders of addition happen to give the same bits."""
    item = next(item for item in EXERCISES if item.function == "ring_all_reduce")
    for key in KEYS:
        first = {group.name: cases for group, cases in hidden(item, key)}["rounding, long tensors"][0]
        one, small, other = (x.tolist()[0] for (x,) in first.args)
        assert small == other
        assert _single(_single(one + small) + small) != _single(one + _single(small + small))


def _single(number: float) -> float:
    return Tensor.of([number]).tolist()[0]


# Rules: other right programs keep to them.


def left_ring(x):
    """A reduce-scatter that runs the other way round."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.tensor_split(ranks)]
    for step in range(ranks - 1):
        mine = chunks[(rank + step + 2) % ranks]
        arrived = torch.empty_like(mine)
        sending = dist.isend(chunks[(rank + step + 1) % ranks], (rank - 1) % ranks)
        dist.recv(arrived, (rank + 1) % ranks)
        sending.wait()
        mine += arrived
    return chunks[rank]


def pairwise(x):
    """A reduce-scatter without a ring: every chunk goes straight to its owner."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = x.tensor_split(ranks)
    total = chunks[rank].clone()
    for step in range(1, ranks):
        arrived = torch.empty_like(total)
        sending = dist.isend(chunks[(rank + step) % ranks].clone(), (rank + step) % ranks)
        dist.recv(arrived, (rank - step) % ranks)
        sending.wait()
        total += arrived
    return total


def online_softmax(x):
    """One collective of two numbers: each rank's maximum and its sum of exponentials."""
    import torch
    import torch.distributed as dist

    top = float(x.max()) if x.numel() else -1e30
    pair = torch.tensor([top, float((x - top).exp().sum())])
    pairs = [torch.empty_like(pair) for _ in range(dist.get_world_size())]
    dist.all_gather(pairs, pair)
    tops, sums = torch.stack(pairs).unbind(1)
    return (x - tops.max()).exp() / (sums * (tops - tops.max()).exp()).sum()


def faults(function: str, program) -> list[str | None]:
    """The faults of a program on the cases of an exercise, on real ranks."""
    item = next(item for item in EXERCISES if item.function == function)
    cases = [case for case in item.cases if not case.raises]
    expected, outcomes = (trusted.run(item, each, cases) for each in (item.solution(), program))
    return [compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)]


def test_other_right_programs_are_right():
    """Kills a rule that allows the reference's own way only."""
    assert not any(faults("ring_reduce_scatter", left_ring))
    assert not any(faults("distributed_softmax", online_softmax))


def test_messages_across_the_ring_break_its_rule():
    told = [fault for fault in faults("ring_reduce_scatter", pairwise) if fault]
    assert told
    assert all("in a ring all messages go to the next rank, one way" in fault for fault in told)


def test_rules_speak_of_ranks_operations_and_bytes():
    case = Case(args=tuple((Tensor.of([1.0] * 8),) for _ in range(4)))
    around = [Event(rank, "send", ((rank + 1) % 4,), 8, 0) for rank in range(4) for _ in range(6)]
    assert rules.all_reduce_ledger(case, (), around) is None
    whole = [Event(rank, "send", ((rank + 1) % 4,), 32, 0) for rank in range(4) for _ in range(3)]
    assert rules.all_reduce_ledger(case, (), whole) == (
        "rank 0 sent 96 bytes; one chunk in each of 2(N-1) steps is 48 bytes, 2 times that: the whole tensor goes round"
    )
    assert rules.only_messages(case, (), [Event(2, "all_reduce", (0, 1, 2, 3), 32, 32)]) == (
        "rank 2 called all_reduce: build it from send, recv, isend and irecv alone"
    )
    assert rules.same_bits(case, (Tensor.of([0.0]), Tensor.of([-0.0])), ()) == (
        "ranks 0 and 1 hold different bits: add each chunk on one rank and copy the result"
    )


# Through the grader.

MODULES = ("collective_semantics", "collective_cost", "collectives", "distributed_stats")
SOLUTIONS = Path(inspect.getfile(EXERCISES[0].solution())).parent
MOST_SLIPS = max(len(item.slips) for item in EXERCISES)


@functools.cache
def exam() -> Exam:
    return Exam(EXERCISES, b"a key")


@pytest.fixture(scope="module", autouse=True)
def _exam_ends():
    """The children in which wrong programs run end with this module."""
    yield
    if exam.cache_info().currsize:
        exam().__exit__()


def graded(*units: Unit) -> Grading:
    return judge(Submission("handed in", units), exam(), Sandbox.measure("none"))


def one_slip_each(number: int) -> dict[str, tuple[str, str]]:
    """For every exercise that has so many slips: the source of one, under the exercise's name, and its sentence."""
    chosen = [(item, item.slips[number]) for item in EXERCISES if number < len(item.slips)]
    return {
        item.id: (re.sub(r"\Adef \w+", f"def {item.function}", inspect.getsource(slip.program)), slip.sentence)
        for item, slip in chosen
    }


def test_the_reference_earns_everything():
    grading = graded(*(Unit(f"{name}.py", (SOLUTIONS / f"{name}.py").read_text(), name) for name in MODULES))
    lost = [(mark.item.id, mark.public, mark.hidden) for mark in grading.marks if mark.score < mark.points]
    assert lost == []
    assert grading.score == 11 * 4 - 4 + 3 * 2


def test_stubs_earn_nothing():
    stubs = [
        f"def {item.function}(*args, **kwargs):\n    raise NotImplementedError({item.id!r})\n" for item in EXERCISES
    ]
    grading = graded(Unit("stubs.py", "\n".join(stubs)))
    assert {mark.state for mark in grading.marks} == {"unwritten"}
    assert grading.score == 0


@pytest.mark.parametrize("number", range(MOST_SLIPS))
def test_every_slip_fails_and_is_named(number):
    slips = one_slip_each(number)
    grading = graded(Unit("slips.py", "\n\n".join(source for source, _ in slips.values())))
    marks = {mark.item.id: mark for mark in grading.marks if mark.item.id in slips}
    assert all(mark.score < mark.points for mark in marks.values())
    assert {name: mark.hidden[0] for name, mark in marks.items()} == {name: told for name, (_, told) in slips.items()}
