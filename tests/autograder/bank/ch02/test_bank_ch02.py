"""Chapter 02's bank: answers against plain arithmetic, options against real runs, rules that allow right programs."""

from __future__ import annotations

import dataclasses

import pytest

from autograder import bank
from autograder.bank.ch02 import chunked_relay, debug_swap, relay, ring_shift
from autograder.items import Build, Case, Choice, Tensor
from experiments.ch02 import blocking_rings, mismatches
from rankzero import world
from rankzero.events import Event
from solutions.ch02.deadlock import simulate
from solutions.ch02.model_parallel import naive_step
from tests.autograder import handed_in
from tests.autograder.bank.ch02.answers import ANSWERS

EXERCISES = {item.function: item for item in bank.of_chapter("ch02") if isinstance(item, Build)}
OPTIONS = {item.id: item.options[item.correct] for item in bank.of_chapter("ch02") if isinstance(item, Choice)}


def test_what_the_literature_and_the_page_print():
    printed = {"02-dtype": [1065353216], "02-chunks": [23, 2.542]}
    printed |= {"02-blocking-relay": [17, 2.805], "02-idle-share": [380, 0.315789]}
    assert all(ANSWERS[name] == pytest.approx(numbers, rel=2e-4) for name, numbers in printed.items())


def test_half_or_twice_the_best_number_of_chunks_costs_four_percent():
    """What the derivation and the page say of the optimum."""
    times = {k: (3 + k - 1) * (5e-6 + 64e6 / k / 50e9) for k in (12, 23, 46)}
    assert [round(times[k] / times[23] - 1, 2) for k in (12, 46)] == [0.03, 0.04]


def test_a_chain_of_eight_takes_seven_hops():
    """The option of `02-staircase`, by the simulator: one round for each hop."""
    programs = [[*([("recv", r - 1)] * (r > 0)), *([("send", r + 1)] * (r < 7))] for r in range(8)]
    assert simulate(programs) == (7, {})
    assert OPTIONS["02-staircase"].startswith("0.7 ms")


def test_a_cut_model_is_no_faster():
    """The option of `02-more-stages`."""
    assert naive_step(8, 8, 0.01, 0.0)[0] == pytest.approx(naive_step(8, 1, 0.01, 0.0)[0]) == pytest.approx(0.24)
    assert OPTIONS["02-more-stages"].startswith("240 ms")


# What the options say is what happens.


def test_mismatches_end_as_the_options_say():
    values = {name: mismatches.MISMATCHES[name].values for name in ("longer", "dtype", "overwrite")}
    seen = {name: mismatches.observe(name) for name in ("longer", "dtype", "source", "overwrite")}
    assert seen["longer"].values == values["longer"]
    assert OPTIONS["02-short-buffer"] == "it fills the first four elements and says nothing"
    assert seen["dtype"].values is not None
    assert ANSWERS["02-dtype"][0] in seen["dtype"].values
    assert seen["source"].reports[0].startswith("waits in send(dst=1)")
    assert seen["source"].reports[1].startswith("waits in recv(src=2)")
    assert OPTIONS["02-wrong-source"] == "rank 0 in its send to 1, and rank 1 in its receive from 2"
    assert seen["overwrite"].values == values["overwrite"]
    assert OPTIONS["02-overwrite"].startswith("zeros")


def test_deadlocks_end_as_the_options_say():
    both_send = [[("send", 1), ("recv", 1)], [("send", 0), ("recv", 0)]]
    both_receive = [calls[::-1] for calls in both_send]
    assert blocking_rings.play(both_send, timeout=1.0) == {0: ("send", 1), 1: ("send", 0)}
    assert OPTIONS["02-send-send"] == "both hang, each in its send"
    assert simulate(both_send, eager=True)[1] == {}
    assert simulate(both_send, eager=False)[1] == {0: ("send", 1), 1: ("send", 0)}
    assert OPTIONS["02-catch-eager"] == "larger tensors, as large as in production"
    assert simulate(both_receive, eager=True)[1] == {0: ("recv", 1), 1: ("recv", 0)}
    assert OPTIONS["02-recv-recv"] == "a deadlock: both wait in their receive"


# Other right programs keep to the rules.


def shift_by_parity(x, distance=1):
    """Blocking calls only: half of the ranks of every cycle receive first."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if distance % ranks == 0:
        return x.clone()
    arrived = torch.empty_like(x)
    receives_first = rank < (rank - distance) % ranks
    if receives_first:
        dist.recv(arrived, (rank - distance) % ranks)
    dist.send(x, (rank + distance) % ranks)
    if not receives_first:
        dist.recv(arrived, (rank - distance) % ranks)
    return arrived


def shift_in_a_batch(x, distance=1):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if distance % ranks == 0:
        return x.clone()
    arrived = torch.empty_like(x)
    calls = [
        dist.P2POp(dist.irecv, arrived, (rank - distance) % ranks),
        dist.P2POp(dist.isend, x, (rank + distance) % ranks),
    ]
    for handle in dist.batch_isend_irecv(calls):
        handle.wait()
    return arrived


def relay_all_posted(x, chunks):
    """All receives at once, and every chunk sent as soon as it is there."""
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    whole = x.clone() if rank == 0 else x.new_empty(x.shape)
    parts = [part for part in whole.tensor_split(chunks) if len(part)]
    receives = [dist.irecv(part, rank - 1) for part in parts] if rank else []
    sends = []
    for number, part in enumerate(parts):
        if rank:
            receives[number].wait()
        if rank < ranks - 1:
            sends.append(dist.isend(part, rank + 1))
    for handle in sends:
        handle.wait()
    return whole


def swap_even_receive(x):
    import torch
    import torch.distributed as dist

    rank = dist.get_rank()
    arrived = torch.empty_like(x)
    if rank % 2:
        dist.send(x, rank - 1)
        dist.recv(arrived, rank - 1)
    else:
        dist.recv(arrived, rank + 1)
        dist.isend(x, rank + 1).wait()  # as good as a blocking send
    return arrived


def receive_in_a_batch(work, buffer, src):
    import torch.distributed as dist

    handles = dist.batch_isend_irecv([dist.P2POp(dist.irecv, buffer, src)])
    try:
        return work()
    finally:
        for handle in handles:
            handle.wait()


def read_with_two_handles(numbers):
    import torch
    import torch.distributed as dist

    mine, ready = torch.tensor(numbers, dtype=torch.float64), torch.ones(1)
    if dist.get_rank():
        arriving, told = dist.irecv(mine, 0), dist.isend(ready, 0)
        for handle in (told, arriving):
            handle.wait()
    else:
        for peer in range(1, dist.get_world_size()):
            dist.recv(ready, peer)
            dist.send(mine, peer)
    return mine.tolist()


def step_by_hand(stage, inputs, targets, shape):
    """Gradients by torch.autograd.grad, put in place one by one."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = inputs
    if rank:
        x = torch.zeros(shape, requires_grad=True)
        with torch.no_grad():
            arrived = torch.empty(shape)
            dist.recv(arrived, rank - 1)
            x.copy_(arrived)
    output = stage(x)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        result = (output * gradient).sum()
    else:
        result = ((output - targets) ** 2).mean()
    wanted = [p for p in stage.parameters() if p.requires_grad] + ([x] if rank else [])
    found = torch.autograd.grad(result, wanted) if wanted else ()
    for parameter, gradient in zip(wanted, found, strict=True):
        parameter.grad = gradient
    if rank:
        dist.send(x.grad, rank - 1)
    return result.item() if rank == ranks - 1 else None


OTHERS = [
    ("ring_shift", shift_by_parity),
    ("ring_shift", shift_in_a_batch),
    ("chunked_relay", relay_all_posted),
    ("receive_while", receive_in_a_batch),
    ("debug_swap", swap_even_receive),
    ("debug_early_read", read_with_two_handles),
    ("forward_backward", step_by_hand),
]


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize(("function", "program"), OTHERS, ids=lambda one: getattr(one, "__name__", one))
def test_other_right_programs_are_right(function, program):
    """Kills a rule that allows the reference's own way only."""
    assert not any(handed_in.faults(EXERCISES[function], program))


# What rules say.


def send(rank: int, peer: int, size: int, start: float = 0.0, end: float = 1.0) -> Event:
    return Event(rank, "send", (peer,), size, 0, start, end)


def receive(rank: int, peer: int, size: int, start: float = 0.0, end: float = 1.0) -> Event:
    return Event(rank, "recv", (peer,), 0, size, start, end)


def test_the_relay_sends_eight_bytes_once():
    case = Case(args=((42, 10),) * 3)
    assert relay.relay_ledger(case, (), [send(1, 2, 8), send(0, 1, 8)]) is None
    assert relay.relay_ledger(case, (), [send(0, 1, 8)]) == (
        "rank 1 sent no messages, 0 bytes in all; every rank but the last sends 8 bytes"
    )
    assert relay.relay_ledger(case, (), [send(0, 1, 4), send(1, 2, 4)]).startswith("rank 0 sent 1 message, 4 bytes")


def test_the_shift_sends_one_message():
    case = Case(args=((Tensor.of([1.0, 2.0]), 2),) * 3)
    assert ring_shift.shift_ledger(case, (), [send(rank, (rank + 2) % 3, 8) for rank in range(3)]) is None
    assert ring_shift.shift_ledger(case, (), [send(1, 2, 8), send(1, 2, 8)]) == (
        "rank 1 sent 2 messages; one is enough, whatever the distance"
    )
    still = dataclasses.replace(case, args=((Tensor.of([1.0]), 3),) * 3)
    assert ring_shift.shift_ledger(still, (), []) is None
    assert "every rank keeps its own tensor" in ring_shift.shift_ledger(still, (), [send(0, 1, 4)])


def test_chunks_are_those_of_tensor_split():
    import torch

    for elements, chunks in ((10, 4), (3, 8), (0, 2), (12, 3)):
        parts = [part.nbytes for part in torch.zeros(elements).tensor_split(chunks) if len(part)]
        assert chunked_relay.chunk_sizes(Tensor.of([0.0] * elements), chunks) == parts
    case = Case(args=((Tensor.of([0.0] * 3), 2),) * 2)
    assert chunked_relay.chunk_ledger(case, (), [send(0, 1, 8), send(0, 1, 4, 1.0)]) is None
    assert chunked_relay.chunk_ledger(case, (), [send(0, 1, 4), send(0, 1, 8, 1.0)]) == (
        "rank 0 sent 2 messages, 12 bytes in all; 2 messages, 12 bytes in all, are due: the chunks of tensor_split, in "
        "order"
    )


def test_a_middle_rank_posts_ahead():
    case = Case(args=((Tensor.of([0.0] * 2), 2),) * 3)
    ahead = [receive(1, 0, 4, 0, 1), receive(1, 0, 4, 1, 3), send(1, 2, 4, 1, 2), send(1, 2, 4, 3, 4)]
    assert chunked_relay.chunks_overlap(case, (), ahead) is None
    after = [receive(1, 0, 4, 0, 1), send(1, 2, 4, 1, 2), receive(1, 0, 4, 2.5, 3), send(1, 2, 4, 3, 4)]
    assert chunked_relay.chunks_overlap(case, (), after).startswith("rank 1 sent chunk 0 and only then posted")


def test_blocking_calls_follow_each_other():
    case = Case(args=((),) * 2)
    assert (
        debug_swap.blocking_calls(case, (), [send(0, 1, 4, 0, 1), receive(0, 1, 4, 1, 2), send(1, 0, 4, 0, 2)]) is None
    )
    assert debug_swap.blocking_calls(case, (), [send(1, 0, 4, 0, 3), receive(1, 0, 4, 1, 2)]) == (
        "rank 1 called recv before its send had ended: use blocking calls"
    )


def test_a_world_in_which_rank_2_does_nothing_reports_two_ranks():
    """The report that `02-wrong-source` asks about, by our own programs."""
    stuck = blocking_rings.play([[("send", 1)], [("recv", 2)], []], timeout=1.0)
    assert stuck == {0: ("send", 1), 1: ("recv", 2)}
    with pytest.raises(world.WorldError, match=r"rank 0 waits in send\(dst=1\)"):
        world.run(blocking_rings.run_program, [[("send", 1)], [("recv", 2)], []], ranks=3, timeout=1.0)
