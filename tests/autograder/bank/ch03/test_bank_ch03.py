"""Chapter 03's bank: what its options say against a real run, and rules that allow every right program."""

from __future__ import annotations

import re
from random import Random

import pytest

from autograder import bank
from autograder.bank import rules
from autograder.items import Build, Case, Choice, Tensor
from autograder.marking import designs
from experiments.ch03.ring_steps import ring_states
from rankzero import world
from rankzero.events import Event
from solutions.ch03.collective_cost import traffic
from solutions.ch03.collective_semantics import collective_outputs
from solutions.ch03.collectives import ring_all_reduce
from solutions.ch03.ring_walk import complete_chunk
from tests.autograder import handed_in

EXERCISES = {item.function: item for item in bank.of_chapter("ch03") if isinstance(item, Build)}
CHOICES = [item for item in bank.of_chapter("ch03") if isinstance(item, Choice)]
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


def large_and_small() -> list[float]:
    import torch
    import torch.distributed as dist

    return ring_all_reduce(torch.full((4,), [1e8, 1.0, -1e8, 1.0][dist.get_rank()])).tolist()


def test_a_ring_leaves_the_same_unequal_numbers_on_all_ranks():
    values = world.run(large_and_small, ranks=4).values
    assert len({tuple(row) for row in values}) == 1
    assert len(set(values[0])) == 2
    answer = next(item for item in CHOICES if item.id == "03-bits")
    assert answer.options[answer.correct].startswith("the same four numbers on every rank")


def test_what_the_meaning_of_the_operations_says():
    """The options of a reduce-scatter: each is what some collective would leave on rank 1."""
    inputs = [[1, 2, 3], [10, 20, 30], [100, 200, 300]]
    item = next(item for item in CHOICES if item.id == "03-scattered-sum")
    found = [
        collective_outputs("reduce_scatter", inputs)[1],
        [sum(inputs[1])],
        collective_outputs("all_reduce", inputs)[1],
        collective_outputs("all_to_all", inputs)[1],
    ]
    for option, numbers in zip(item.options, found, strict=True):
        assert [int(number) for number in re.findall(r"\d+", option)] == numbers


def test_the_walk_of_a_chunk_is_that_of_the_picture():
    """The numbers that chunk 2 collects, stop by stop, and the chunk that rank 2 ends with in the other walk."""
    (item,) = (item for item in bank.of_chapter("ch03") if item.id == "03-ring-order")
    states = ring_states(4)
    stops = [(state.senders[2] + 1) % 4 for state in states[1:5]]
    told = [
        (int(rank), int(total))
        for rank, total in re.findall(
            r"rank (\d) (?:adds.*holds|receives) (\d+)", " ".join(item.steps).replace("rank", "\nrank")
        )
    ]
    assert told == [(rank, state.sums[rank][2]) for rank, state in zip(stops, states[1:5], strict=True)]
    (owner,) = (item for item in CHOICES if item.id == "03-chunk-owner")
    assert owner.options[owner.correct] == f"chunk {complete_chunk(4, 2, first=0)}"


@pytest.mark.parametrize("ranks", [2, 3, 8, 64])
def test_what_three_programs_send(ranks):
    """A ring of chunks sends no fewer tensors in total than a star does: 2 (N - 1)."""
    chunks = [traffic("all_reduce", 1.0, ranks, rank)[0] for rank in range(ranks)]
    assert sum(chunks) == pytest.approx(2 * (ranks - 1))
    (item,) = (item for item in CHOICES if item.id == "03-race")
    assert "each rank sends as much as the star's rank 0" in item.options[item.correct]


def test_the_mean_of_two_means():
    (item,) = (item for item in CHOICES if item.id == "03-token-loss")
    assert (
        item.options[item.correct]
        == f"the log says {(2.0 + 4.0) / 2}; the loss per token is {(900 * 2 + 100 * 4) / 1000}"
    )


def test_buckets():
    """Kills a design in which every size is right, and one in which the largest bucket costs nothing."""
    (item,) = (item for item in bank.of_chapter("ch03") if item.id == "03-buckets")
    fits = {size for (size,) in designs.buildable(item)}
    assert fits == {100, 200, 400, 1000} == {size for (size,) in designs.front(item)}
    hundred, whole = (item.simulate(megabytes=size) for size in (100, 14000))
    assert hundred.costs == pytest.approx((140 * (126 * 5e-6 + 126 / 64 * 2e-3), 126 * 5e-6 + 126 / 64 * 2e-3))
    assert whole.costs[0] < hundred.costs[0] < 1.2 * whole.costs[0]


def test_the_star_and_the_saving():
    """By hand: seven tensors in and seven out, seven times what another rank moves; and 16,032 numbers of 4 bytes less
    an eighth, over 14 bytes."""
    (star,) = (item for item in bank.of_chapter("ch03") if item.id == "03-star")
    assert [part.answer() for part in star.parts] == [14, 7]
    (saving,) = (item for item in bank.of_chapter("ch03") if item.id == "03-softmax-bytes")
    assert saving.answer() == pytest.approx(128_256 * 4 * 7 / 8 / 14)


# Cases and slips, in this process.


def test_every_key_asks_for_numbers_whose_order_matters():
    """Kills: a group in which all orders of addition happen to give the same bits."""
    item = EXERCISES["ring_all_reduce"]
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
    item = EXERCISES[function]
    return handed_in.faults(item, program, [case for case in item.cases if not case.raises])


@pytest.mark.proof(part="bank")
def test_other_right_programs_are_right():
    """Kills a rule that allows the reference's own way only."""
    assert not any(faults("ring_reduce_scatter", left_ring))
    assert not any(faults("distributed_softmax", online_softmax))


@pytest.mark.proof(part="bank")
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
