"""Chapter 10's bank: answers as the page prints them, what options say, and probes that allow every right program."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
import torch

from autograder import bank
from autograder.items import Build, Case, Choice
from autograder.marking import trusted
from autograder.probes import ch10, ch10_graphs
from rankzero.tiny.cpu_graph import CpuGraph
from solutions.ch10.future_map import FutureMap
from solutions.ch10.graph_runner import GraphRunner
from solutions.ch10.scheduling import debug_yield, eager_time, graph_time
from solutions.ch10.token_budget import TokenBudgetScheduler
from tests.autograder import handed_in

EXERCISES = {item.function: item for item in bank.of_chapter("ch10") if isinstance(item, Build)}
CHOICES = {item.id: item for item in bank.of_chapter("ch10") if isinstance(item, Choice)}


def answer(identifier: str) -> str:
    choice = CHOICES[identifier]
    return choice.options[choice.correct]


# The list.


# What the options say.


def test_a_graph_of_longer_kernels_gains_nothing():
    kernels = [10e-6] * 500
    assert eager_time(kernels, 5e-6) < graph_time(kernels, 10e-6)
    assert answer("10-when-useless") == "nothing"


def test_a_new_tensor_under_an_old_name():
    x, graph = torch.zeros(2), CpuGraph()
    with graph.capture():
        y = x.cos()
    x = torch.ones(2)
    graph.replay()
    assert y.tolist() == torch.zeros(2).cos().tolist() != x.cos().tolist()
    assert answer("10-stale") == "f(zeros)"


def test_a_branch_is_chosen_once():
    host, x, graph = [1.0, 1.0], torch.ones(2), CpuGraph()
    with graph.capture():
        z = 2 * x if sum(host) > 0 else -x
    host[:] = [-1.0, -1.0]
    x.copy_(torch.tensor(host))
    graph.replay()
    assert str([int(value) for value in z.tolist()]) == answer("10-frozen-branch")


def test_what_no_graph_can_hold():
    fails = []
    programs = {
        "dropout": lambda x: torch.nn.functional.dropout(x, 0.5),
        "`.item()`": lambda x: x.sum().item(),
        "a new intermediate tensor": lambda x: x + torch.ones(3),
        "a shape that depends on data": lambda x: x[x > 0],
    }
    for name, program in programs.items():
        try:
            with CpuGraph().capture():
                program(torch.ones(3))
        except RuntimeError:
            fails.append(name)
    assert answer("10-allowed") == ", and ".join(fails)


def test_the_placeholders_of_the_question():
    futures = FutureMap(2)
    futures.store(futures.reserve(2), [7, 9])
    assert str(futures.resolve([5, -1, -2, 3])) == answer("10-placeholder")


def test_the_third_step_of_three_prompts():
    scheduler = TokenBudgetScheduler(1024, 16, 10_000, 16, max_chunk=400)
    for name in "123":
        scheduler.add(name, 800, 16)
    for _ in range(3):
        step = scheduler.schedule()
        scheduler.update()
    assert str([tokens for _, tokens in step]) == answer("10-partial-vllm")


def test_who_is_preempted():
    scheduler = TokenBudgetScheduler(16, 4, 3, 4)
    for name in "xyz":
        scheduler.add(name, 4, 3)
    scheduler.schedule()
    scheduler.update()
    scheduler.schedule()
    assert scheduler.preempted[0] == answer("10-victim") == "z"


# Cases.


def drawn(item: Build, key: int) -> list[Case]:
    return [case for _, cases in item.hidden(Random(f"key {key}")) for case in cases]


def test_pools_that_run_full_do():
    """Kills: a group that promises preemptions and draws none."""
    item = EXERCISES["TokenBudgetScheduler"]
    for key in range(20):
        groups = {group.name: cases for group, cases in item.hidden(Random(f"key {key}"))}
        for name in ("a pool that runs full", "chunks in a small pool"):
            outcomes = trusted.run(item, TokenBudgetScheduler, groups[name])
            assert all(outcome.value[-2] > 0 for outcome in outcomes), (key, name)


def test_no_trace_raises_but_where_it_should():
    item = EXERCISES["TokenBudgetScheduler"]
    quiet = {"a long prompt beside streams", "chunks of a given size", "whole prompts", "a pool that runs full"}
    for key in range(10):
        for group, cases in item.hidden(Random(f"key {key}")):
            if group.name in quiet:
                for outcome in trusted.run(item, TokenBudgetScheduler, cases):
                    assert not any(isinstance(one, tuple) and one[:1] == ("raises",) for one in outcome.value)


# Probes: other right programs pass, and wrong ones do not.


def in_a_thread(step):
    async def loop():
        count, more = 0, True
        while more:
            more = await asyncio.to_thread(step)
            count += 1
        return count

    return loop()


def with_a_pause(step):
    async def loop():
        count, more = 0, True
        while more:
            more = step()
            count += 1
            await asyncio.sleep(0.0005)
        return count

    return loop()


@pytest.mark.parametrize("program", [debug_yield, in_a_thread, with_a_pause])
def test_every_way_to_let_others_in_is_right(program):
    item = EXERCISES["debug_yield"]
    assert set(handed_in.faults(item, program, [*item.cases, *drawn(item, 0)])) == {None}


def test_a_loop_may_be_judged_while_another_one_runs():
    """As in a notebook, whose kernel has an event loop of its own."""

    async def kernel():
        return ch10.beside(debug_yield, 4)

    assert asyncio.run(kernel()) == ch10.beside(debug_yield, 4)


class Terse(GraphRunner):
    """Slices inside the recorded program, copies the answer out by hand, and writes the padding itself."""

    def _captured(self, static_input):
        self.captures += 1
        graph = self._graph()
        return graph, static_input, graph.record(lambda: self._model(static_input).clone()[:])


def test_another_runner_is_right_too():
    for mixing in (False, True):
        assert str(ch10_graphs.batches(Terse, [8, 2, 4], 3, [3, 1, 4, 2, 9], mixing)) == str(
            ch10_graphs.batches(GraphRunner, [8, 2, 4], 3, [3, 1, 4, 2, 9], mixing)
        )


def test_the_probes_graph_is_the_courses():
    """The same programs, recorded by both, replay the same."""
    programs = (
        lambda x: 2 * x + 1,
        lambda x: torch.tanh(x @ x.T)[:, :1],
        lambda x: (x - x.mean(0)).relu_().sum(),
        lambda x: torch.cat([x, x.view(-1, 3)]).clone(),
    )
    for program in programs:
        answers = []
        for graph in (CpuGraph(), ch10_graphs.recorder(torch.zeros(()))[0]()):
            x = torch.zeros(3, 3, dtype=torch.float64)
            y = graph.record(lambda x=x, program=program: program(x))
            x.copy_(torch.arange(9.0, dtype=torch.float64).view(3, 3))
            graph.replay()
            answers.append(y)
        assert torch.equal(*answers)
        assert torch.equal(answers[0], program(x.clone()))
