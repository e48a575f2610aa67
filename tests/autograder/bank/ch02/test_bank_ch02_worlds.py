"""Chapter 2 on real ranks: wrong programs lose points, and none is told a sentence that is not true of it."""

from __future__ import annotations

import dataclasses
from random import Random

import pytest

from autograder import bank
from autograder.bank.ch02 import forward_backward, ring_shift
from autograder.items import Build, Case, Tensor
from autograder.marking import compare, judge, trusted
from autograder.running.exam import Exam
from rankzero.events import Event
from solutions.ch02.alpha_beta import best_chunks, relay_time

ITEMS = {item.function: item for item in bank.of_chapter("ch02") if isinstance(item, Build)}


def lost(function: str, program, group: str) -> list[str]:
    """What is said of a program in the hidden cases of one group."""
    item = ITEMS[function]
    with Exam([item], b"key 0") as exam:
        drawn = exam.sheet(item).drawn
    cases = [case for one, case in drawn if one and one.name == group]
    assert cases
    expected = trusted.run(item, item.solution(), cases)
    outcomes = trusted.run(item, program, cases, 5.0)
    found = (compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True))
    return [sentence for sentence in found if sentence]


# forward_backward


def step(stage, inputs, targets, shape, clears=False):
    """A right step, but for what is asked for."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if clears:
        stage.zero_grad()
    activation = inputs
    if rank > 0:
        activation = torch.empty(shape)
        dist.recv(activation, rank - 1)
        activation.requires_grad_()
    output = stage(activation)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
    else:
        output, gradient = torch.nn.functional.mse_loss(output, targets), torch.ones(())
    if output.requires_grad:
        output.backward(gradient)
    if rank > 0:
        dist.send(activation.grad, rank - 1)
    return output.item() if rank == ranks - 1 else None


def cleared(stage, inputs, targets, shape):
    return step(stage, inputs, targets, shape, clears=True)


def frozen_does_not_receive(stage, inputs, targets, shape):
    """A stage with nothing to train skips the receive of its gradient, and the message back."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    trains = any(parameter.requires_grad for parameter in stage.parameters())
    activation = inputs
    if rank > 0:
        activation = torch.empty(shape)
        dist.recv(activation, rank - 1)
        activation.requires_grad_()
    output = stage(activation)
    if rank == ranks - 1:
        loss = torch.nn.functional.mse_loss(output, targets)
        loss.backward()
    else:
        dist.send(output.detach(), rank + 1)
        if trains:
            gradient = torch.empty(shape)
            dist.recv(gradient, rank + 1)
            output.backward(gradient)
    if rank > 0 and activation.grad is not None:
        dist.send(activation.grad, rank - 1)
    return loss.item() if rank == ranks - 1 else None


def test_a_step_that_clears_the_gradients_loses_its_group():
    assert lost("forward_backward", cleared, "gradients of before")


@pytest.mark.proof(part="bank")
def test_two_deadlocks_are_not_taken_for_one_mistake():
    """Kills: the sentence of a stage that sends a number, said of a stage that does not receive."""
    whole = ITEMS["forward_backward"]
    groups = tuple(group for group in whole.groups if group.name in ("trained stages", "nothing to train"))
    item = dataclasses.replace(whole, groups=groups)
    with Exam([item], b"key 0") as exam:
        paper = exam.paper(item)
        mark = judge.mark(paper, trusted.run(item, frozen_does_not_receive, paper.cases, 5.0))
    assert mark.state != "right"
    assert mark.slip == ""


# What is returned is new, and what is empty does not travel.


def whole_turns_by_itself(x, distance=1):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if distance % ranks == 0 or not x.numel():
        return x
    arrived = torch.empty_like(x.contiguous())
    sending = dist.isend(x.contiguous(), (rank + distance) % ranks)
    dist.recv(arrived, (rank - distance) % ranks)
    sending.wait()  # type: ignore[union-attr]
    return arrived


@pytest.mark.proof(part="bank")
def test_a_tensor_that_is_an_argument_itself_is_not_new():
    assert lost("ring_shift", whole_turns_by_itself, "whole turns")
    assert not lost("ring_shift", whole_turns_by_itself, "not contiguous")


def test_ties_are_exact():
    """Kills: equal times that differ in their last bit, so that rounding decides between two numbers of chunks."""
    ties = next(group for group in ITEMS["best_chunks"].groups if group.name == "ties")
    for key in range(100):
        args = ties.draw(Random(key)).args
        fewer = best_chunks(*args)
        assert fewer > 1
        size, hops, bandwidth, latency = args
        assert relay_time(size, hops, fewer, bandwidth, latency) == relay_time(
            size, hops, fewer + 1, bandwidth, latency
        )


def send(rank: int, peer: int, size: int = 4) -> Event:
    return Event(rank, "send", (peer,), size, 0)


def test_every_boundary_is_crossed_once_each_way():
    case = Case(args=((),) * 3)
    once = [send(0, 1), send(1, 2), send(2, 1), send(1, 0)]
    assert forward_backward.each_boundary_once(case, (), once) is None
    assert forward_backward.each_boundary_once(case, (), [*once, send(1, 0)]) == (
        "rank 1 sent to rank 0 and rank 0 and rank 2; every boundary is crossed by one message each way"
    )
    assert forward_backward.each_boundary_once(case, (), []) == (
        "rank 0 sent to nobody; every boundary is crossed by one message each way"
    )


def test_an_empty_tensor_is_not_sent():
    case = Case(args=((Tensor.of([]), 1),) * 3)
    assert ring_shift.shift_ledger(case, (), []) is None
    assert ring_shift.shift_ledger(case, (), [send(0, 1, 0)]) == (
        "rank 0 sent 1 message; its tensor has no elements, so there is nothing to send"
    )
