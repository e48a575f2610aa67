"""Chapter 07's items on ranks and tensors: other right programs pass, and rules say what is wrong."""

from __future__ import annotations

import re
from random import Random

import pytest
import torch
import torch.distributed as dist

from autograder import bank
from autograder.bank.ch07 import debug_sync, expert_parallel_forward, pipeline_step
from autograder.items import Build, Case, Stage, Tensor
from rankzero.events import Event
from solutions.ch07.pipeline import pipeline_schedule
from tests.autograder import handed_in

EXERCISES = {item.function: item for item in bank.of_chapter("ch07") if isinstance(item, Build)}


@pytest.mark.parametrize(
    ("name", "ranks", "microbatches"), [("gpipe", 3, 5), ("1f1b", 4, 6), ("1f1b", 4, 2), ("1f1b", 1, 3)]
)
def test_the_orders_of_the_cases_are_the_chapters(name, ranks, microbatches):
    assert pipeline_step.orders(name, ranks, microbatches) == pipeline_schedule(name, ranks, microbatches)


# Other right programs.


def received_early(module, order, inputs, targets, loss_fn, hidden_shape, dtype=torch.float64):
    """Posts every receive before it computes, in the order of the passes that wait for them."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    numbers = {kind: [int(op.partition(kind)[2]) for op in order if kind in op] for kind in "FB"}
    count = len(numbers["F"])
    come = [torch.empty(hidden_shape, dtype=dtype) for _ in range(count)] if rank else list(inputs)
    back = [torch.empty(hidden_shape, dtype=dtype) for _ in range(count)]
    arrivals = {m: dist.irecv(come[m], rank - 1) for m in numbers["F"]} if rank else {}
    returns = {m: dist.irecv(back[m], rank + 1) for m in numbers["B"]} if rank < ranks - 1 else {}
    sending, outputs, losses = [], {}, []
    for op in order:
        m = int(re.split("[FB]", op)[1])
        if "F" in op:
            if rank:
                arrivals[m].wait()
                come[m].requires_grad_()
            outputs[m] = module(come[m])
            if rank < ranks - 1:
                sending.append(dist.isend(outputs[m].detach(), rank + 1))
        else:
            y = outputs.pop(m)
            if rank < ranks - 1:
                returns[m].wait()
                if y.requires_grad:
                    torch.autograd.backward([y], [back[m]])
            else:
                losses.append(loss_fn(y, targets[m]))
                (losses[-1] / count).backward()
            if rank:
                sending.append(dist.isend(come[m].grad, rank - 1))
    for message in sending:
        message.wait()
    return torch.stack(losses).mean().detach() if losses else torch.zeros((), dtype=dtype)


def told_to_all(x, weights, chosen, local_experts, experts):
    """Gathers the counts of all ranks, and exchanges rows through the library's own differentiable all-to-all."""
    import torch.distributed.nn.functional as exchange

    rank, ranks = dist.get_rank(), dist.get_world_size()
    share = experts // ranks
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    tables = [torch.empty(experts, dtype=torch.int64) for _ in range(ranks)]
    dist.all_gather(tables, torch.bincount(flat, minlength=experts))
    sent = [int(part.sum()) for part in tables[rank].split(share)]
    mine = [table[rank * share : (rank + 1) * share].tolist() for table in tables]
    received = [sum(row) for row in mine]
    rows = exchange.all_to_all_single(
        x.new_empty(sum(received), x.shape[1]), x[order // chosen.shape[1]], received, sent
    )
    parts = iter(rows.split([size for row in mine for size in row]))
    done = [local_experts[number](next(parts)) for _ in mine for number in range(share)]
    back = exchange.all_to_all_single(x.new_empty(sum(sent), x.shape[1]), torch.cat(done), sent, received)
    return torch.zeros_like(x).index_add(0, order // chosen.shape[1], back * weights.flatten()[order].unsqueeze(1))


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize(
    ("name", "program"), [("pipeline_step", received_early), ("expert_parallel_forward", told_to_all)]
)
def test_another_right_program_is_right(name, program):
    item = EXERCISES[name]
    cases = [*item.cases, *(case for _, group in item.hidden(Random("another")) for case in group)]
    assert not any(handed_in.faults(item, program, cases))


# Rules.

_LAYER = ("Linear", Tensor.of([0.0] * 4, "float64", (2, 2)), Tensor.of([0.0] * 2, "float64"))
_STAGE = Stage((_LAYER, ("Tanh",)))


def message(rank: int, peer: int, operation: str = "send") -> Event:
    return Event(rank, operation, (peer,), 8, 0)


def test_the_rule_of_messages():
    case = Case(args=((_STAGE, ["0F0", "0B0"]), (_STAGE, ["1F0", "1B0"])))
    right = [message(0, 1), message(1, 0, "recv"), message(1, 0), message(0, 1, "recv")]
    assert pipeline_step.one_message_each_way(case, (), right) is None
    assert pipeline_step.one_message_each_way(case, (), right[1:]) == (
        "1 messages were sent; 1 micro-batches cross 1 boundaries twice, 2 messages"
    )
    assert "called all_reduce" in str(
        pipeline_step.one_message_each_way(case, (), [*right, message(0, 1, "all_reduce")])
    )


def test_a_rank_that_runs_ahead_of_its_list_is_seen():
    """Kills: all forward passes first, with the right losses and gradients and a made-up number of graphs."""
    order = ["0F0", "0B0", "0F1", "0B1"]
    case = Case(args=((_STAGE, order), (_STAGE, ["1F0", "1B0", "1F1", "1B1"])))

    def run(*words: str) -> list[Event]:
        """The messages of rank 0 one after the other, and two gradients of rank 1."""
        own = [Event(0, word, (1,), 8, 0, start=2 * n, end=2 * n + 1) for n, word in enumerate(words)]
        return [*own, message(1, 0), message(1, 0)]

    assert pipeline_step.one_message_each_way(case, (), run("send", "recv", "send", "recv")) is None
    assert pipeline_step.one_message_each_way(case, (), run("send", "send", "recv", "recv")) == (
        "rank 0 had sent 2 activations when gradient 1 came: in its list there are 1"
    )
    early = [Event(0, "recv", (1,), 0, 8, start=0, end=end) for end in (4, 8)]  # posted early, waited for in order
    late = [Event(0, "send", (1,), 8, 0, start=start, end=9) for start in (1, 5)]
    assert pipeline_step.one_message_each_way(case, (), [*early, *late, message(1, 0), message(1, 0)]) is None


def test_the_rule_of_gradients():
    """Six parameters of eight bytes; in any number of pieces, but once."""
    case = Case(args=((_STAGE, [1, 2], [1, 2], (1, 2)),))
    assert debug_sync.gradient_bytes(_STAGE) == 48
    pieces = [Event(0, "all_reduce", (0, 2), 32, 32), Event(0, "all_reduce", (0, 2), 16, 16)]
    assert debug_sync.reduced_once(case, (), pieces) is None
    assert "rank 0 reduced its gradients 2 times" in str(debug_sync.reduced_once(case, (), pieces * 2))


def test_the_rule_of_rows():
    x, one = Tensor.of([0.0] * 8, "float64", (4, 2)), Tensor.of([0, 1, 1, 1], "int64", (4, 1))
    case = Case(args=((x, x, one, x, 2), (x, x, one, x, 2)))
    counts = Event(0, "all_gather", (0, 1), 16, 32)
    assert (
        expert_parallel_forward.rows_to_their_experts(case, (), [counts, Event(0, "all_to_all", (0, 1), 64, 64)])
        is None
    )
    assert "send a row only to the rank" in str(
        expert_parallel_forward.rows_to_their_experts(case, (), [Event(1, "all_gather", (0, 1), 64, 128)])
    )
    assert "handed in 4,000 bytes" in str(
        expert_parallel_forward.rows_to_their_experts(case, (), [Event(1, "all_to_all", (0, 1), 4000, 4000)])
    )


def test_pipeline_cases_name_their_loss():
    assert all(args[4] == "mse_loss" for case in bank.find("07-pipeline-step").cases for args in case.args)
