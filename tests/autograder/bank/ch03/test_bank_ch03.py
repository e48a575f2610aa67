"""Chapter 03's bank: what its options say against a real run, and rules that allow every right program."""

from __future__ import annotations

from random import Random

from autograder.bank import rules
from autograder.bank.ch03 import items as bank
from autograder.items import Build, Case, Choice, Tensor
from autograder.marking import compare
from rankzero import world
from rankzero.events import Event
from tests.autograder import handed_in

EXERCISES = [item for item in bank.ITEMS if isinstance(item, Build)]
CHOICES = [item for item in bank.ITEMS if isinstance(item, Choice)]
KEYS = range(20)


def hidden(item: Build, key: int) -> list[tuple]:
    return item.hidden(Random(f"key {key}"))


# The questions.


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
    expected, outcomes = (handed_in.outcomes(item, each, cases) for each in (item.solution(), program))
    return [compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)]


def test_other_right_programs_are_right():
    """Kills a rule that allows the reference's own way only."""
    assert not any(faults("ring_reduce_scatter", left_ring))
    assert not any(faults("distributed_softmax", online_softmax))


def test_messages_across_the_ring_break_its_rule():
    told = [fault for fault in faults("ring_reduce_scatter", pairwise) if fault]
    assert told
    assert all("in a ring all messages go the same way" in fault for fault in told)


def test_rules_speak_of_ranks_operations_and_bytes():
    case = Case(args=tuple((Tensor.of([1.0] * 8),) for _ in range(4)))
    around = [Event(rank, "send", ((rank + 1) % 4,), 8, 0) for rank in range(4) for _ in range(6)]
    assert rules.all_reduce_ledger(case, (), around) is None
    whole = [Event(rank, "send", ((rank + 1) % 4,), 32, 0) for rank in range(4) for _ in range(3)]
    assert rules.all_reduce_ledger(case, (), whole) == (
        "rank 0 sent 96 bytes; one chunk in each of 2(N-1) steps is 48 bytes, 2 times that: "
        "the whole tensor goes around"
    )
    assert rules.only_messages(case, (), [Event(2, "all_reduce", (0, 1, 2, 3), 32, 32)]) == (
        "rank 2 called all_reduce: use only send, recv, isend and irecv"
    )
    assert rules.same_bits(case, (Tensor.of([0.0]), Tensor.of([-0.0])), ()) == (
        "ranks 0 and 1 hold different bits: add each chunk on one rank and copy the result"
    )


def test_what_is_empty_need_not_be_sent():
    case = Case(args=())
    assert rules.no_empty_messages(case, (), [Event(0, "send", (1,), 4, 0), Event(1, "recv", (0,), 0, 0)]) is None
    assert rules.no_empty_messages(case, (), [Event(2, "send", (0,), 0, 0)]) == (
        "rank 2 sent a message of 0 bytes: empty messages need not be sent"
    )


def test_bits_are_those_of_what_was_returned():
    """Kills: arguments, which differ from rank to rank, held against one another."""
    one, other = ({"returned": Tensor.of([1.0]), "arguments afterwards": [rank]} for rank in range(2))
    assert rules.same_bits(Case(), (one, other), ()) is None
    assert rules.same_bits(Case(), (one, {**other, "returned": Tensor.of([2.0])}), ()) is not None
