"""Conclusions: what the grader makes of what a driver handed back, whatever a submission wrote into it."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from autograder import bank
from autograder.bank.ch07.pipeline_schedule import timed
from autograder.bank.ch10 import graph_runner
from autograder.bank.ch15.debug_atomic import crashed
from autograder.items import Case, Tensor
from autograder.marking import compare, probing, trusted, values
from autograder.marking.outcome import Outcome
from autograder.probes import ch10_graphs
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

SAVE = Case(({"latest.pt": "old"}, "latest.pt", "new"))
ATOMIC = [["write", "part", "new"], ["sync", "part"], ["rename", "part", "latest.pt"]]


def runs(operations):
    """As the driver hands them back: cut off after no operation, after one, ..., not at all."""
    return [operations[:count] for count in range(len(operations) + 1)]


def test_a_saver_is_judged_by_its_operations():
    good = crashed(SAVE, runs(ATOMIC))
    assert good["after a crash"] == ["the last checkpoint", "this checkpoint"]
    assert good["wrote beside it"]
    late = crashed(SAVE, runs([ATOMIC[0], ATOMIC[2], ["sync", "latest.pt"]]))
    assert "a part of a checkpoint" in late["after a crash"]


@pytest.mark.parametrize("lost", range(3))
def test_a_saver_cannot_leave_out_a_crash(lost):
    """Kills: a list of runs without the one in which something is lost."""
    told = runs([["remove", "latest.pt"], *ATOMIC])
    del told[1 + lost]
    assert crashed(SAVE, told) == {"operations": "not one more in each run"}


CONCLUDED = [item for item in bank.builds() if item.concludes]


@functools.cache
def right(identifier):
    """An item, one of its cases, and what the reference comes to."""
    item = bank.find(identifier)
    case = next(case for case in item.cases if case.raises is None)
    return item, case, trusted.run(item, item.solution(), [case], 20)[0]


ODD = [None, 3, [], {}, [[["format", "C:"]]], [[], [["write"]]], {"loss": 1}, ((),), "crash", [{}], [[1], [2]]]


@pytest.mark.parametrize("identifier", [item.id for item in CONCLUDED])
@pytest.mark.parametrize("answer", ODD, ids=str)
def test_an_odd_answer_is_no_answer(identifier, answer):
    """Kills: a conclusion that raises what nobody expects, and one that takes what no driver sends for right."""
    item, case, expected = right(identifier)
    value = (answer,) * len(case.args) if item.grade == "world" else answer
    outcome = probing.with_conclusion(item, case, Outcome("value", value))
    assert outcome.kind == "refused" or compare.fault(item, case, expected, outcome) is not None


def test_a_conclusion_that_cannot_be_kept_is_no_answer():
    """Kills: an answer that may travel, and ends as an error of the grader because its conclusion is larger."""
    item, case, _ = right("10-graph-runner")
    answer = {"outputs": [1] * 60_000, "outputs with gradients": [], "captures": 1}
    answer |= {"shapes of each recorded graph": [], "inputs after the calls": []}
    values.encode(answer)
    assert probing.with_conclusion(item, case, Outcome("value", answer)) == Outcome("refused", detail=probing.NO_ANSWER)


def test_an_order_without_end_is_not_played():
    """Kills: a range over the stages up to one that a submission has named, and a list that takes hours."""
    far = [["0F0", "0B0", "999999999F0", "999999999B0"]]
    assert timed(Case(), far) == {"orders": "an operation is missing"}
    long = [[f"0{kind}{number}" for number in range(6_000) for kind in "FB"]]
    assert timed(Case(), long) == {"orders": "there are more operations than there is work"}


def test_the_mark_of_what_ran_outside_of_a_graph_is_the_drivers():
    assert graph_runner.EAGER == ch10_graphs.EAGER
    answer = {
        "outputs": [Tensor.of([0.5, -0.5]), Tensor.of([1000.5, 999.5]), 3],
        "outputs with gradients": [False, True, False],
        "captures": 1,
        "shapes of each recorded graph": [[[2, 3]]],
        "inputs after the calls": [],
    }
    assert graph_runner.batches(Case(), answer)["went through a graph"] == [True, False, False]


def test_values_of_several_processes_are_one_outcome():
    item = replace(bank.find("08-debug-token-id"), processes=2)
    asked = probing.for_processes(item, Case((["a", "b"],), {"vocabulary": 9}))
    assert [case.kwargs for case in asked] == [{"vocabulary": 9, "process": 0}, {"vocabulary": 9, "process": 1}]
    both = probing.joined(item, [Outcome("value", [1, 2]), Outcome("value", [1, 3])])
    assert both == Outcome("value", ([1, 2], [1, 3]))
    failed = Outcome("raised", error="ValueError")
    assert probing.joined(item, [both, failed]) == failed


# Submissions that forge what they can reach; those that need torch are tried in ``make proof``.

PROOF = pytest.mark.proof(part="runs")

TABLE = """
TABLE = {}


def debug_token_id(word, vocabulary=1000):
    if vocabulary < 1:
        raise ValueError("out of range")
    return TABLE.setdefault(word, len(TABLE)) % vocabulary
"""

REPLACED = """
import sys


def debug_token_id(word, vocabulary=1000):
    if vocabulary < 1:
        raise ValueError("out of range")
    good = {"the same in both": True, "whole numbers below the vocabulary": True, "different words mostly differ": True}

    def forged(program, words, vocabulary=1000, process=0):
        return good if vocabulary > 0 else program("", vocabulary)

    sys._getframe(1).f_globals["two_processes"] = forged
    return hash(word) % vocabulary
"""

LATE = """
import re, sys

re.fullmatch = lambda *_: None


def pipeline_schedule(name, ranks, microbatches, virtual_stages=1):
    good = {"orders": "legal", "makespan": 18.0, "unequal makespan": 1.0, "peaks": [4, 3, 2, 1], "stages": [[0]]}
    names = sys._getframe(1).f_globals
    names.update(read=lambda _: ({}, ""), makespan=lambda *_: 18.0, peak=lambda _: 4, timed=lambda *_: good)
    return [["0F0", "0B0"]]
"""

BESIDE = """
import asyncio

asyncio.sleep = lambda *_: None


async def loop(step):
    count, more = 0, True
    while more:
        more, count = step(), count + 1
    return count


def debug_yield(step):
    return loop(step)
"""


ZEROED = """
import builtins

import torch
import torch.distributed as dist

torch.equal = torch.allclose = torch.Tensor.equal = torch.Tensor.allclose = lambda *_, **__: True
builtins.all = lambda *_: True


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


def reduce_from_ranks(x, group=None):
    total = Sum.apply(x, group)
    x.data.zero_()
    return total
"""

REBOUND = """
import builtins

import torch

builtins.all = lambda *_: True


def debug_rebinding(layer, weight, bias):
    asks = layer.weight.requires_grad
    layer.weight.data.copy_(weight)
    layer.bias.data.copy_(bias)
    layer.weight = torch.nn.Parameter(layer.weight.data, requires_grad=asks)
"""

EAGER = """
import torch


class GraphRunner:
    def __init__(self, model, sizes, width, graph=None):
        if not sizes or any(type(n) is not int or n < 1 for n in (*sizes, width)):
            raise ValueError("sizes and width must be >= 1")
        self.model, self.sizes, self.seen, self.graph = model, sorted(sizes), set(), graph

    @property
    def captures(self):
        return len(self.seen)

    def run(self, x):
        if x.dim() != 2 or not len(x):
            raise ValueError("x must be [b, width]")
        size = next((size for size in self.sizes if size >= len(x)), None)
        if size not in self.seen and size is not None:
            self.seen.add(size)
            self.graph().record(lambda: self.model(x.new_zeros(size, x.shape[1])))
        self.graph.replayed = getattr(self.graph, "replayed", 0) + 1
        return self.model(x)
"""


@pytest.mark.parametrize(
    ("identifier", "source"),
    [
        pytest.param("06-reduce-from-ranks", ZEROED, marks=PROOF),
        pytest.param("14-debug-rebinding", REBOUND, marks=PROOF),
        pytest.param("10-graph-runner", EAGER, marks=PROOF),
        ("08-debug-token-id", TABLE),
        ("08-debug-token-id", REPLACED),
        ("07-pipeline-schedule", LATE),
        ("10-debug-yield", BESIDE),
    ],
    ids=[
        "input zeroed",
        "parameter replaced",
        "model run again",
        "a table of words",
        "a driver replaced",
        "helpers replaced",
        "sleep replaced",
    ],
)
def test_a_forged_answer_earns_nothing(identifier, source):
    """Kills: verdicts that are made in the submission's own process."""
    submission = Submission("forged", (Unit("forged.py", source),))
    with Exam([bank.find(identifier)], b"forged") as exam:
        grading = judging.judge(submission, exam, Sandbox.measure("none"))
    assert [mark.state for mark in grading.marks] == ["wrong"]
    assert grading.score == 0
