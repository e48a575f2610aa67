"""Chapter 04's bank: answers as the page prints them, what options say, and rules that allow every right program."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

import pytest

from autograder import bank
from autograder.bank.ch04 import debug_barrier, design_sizes, shared, tree_all_reduce
from autograder.bank.ch04 import parse_topology as bank_topology
from autograder.items import Build, Case, Choice, Order, Tensor
from autograder.marking import compare, designs
from autograder.marking.outcome import Outcome
from experiments.ch04 import published
from experiments.ch04.tree_steps import tree_states
from rankzero.events import Event
from rankzero.facts.topologies import SAMPLES
from rankzero.facts.units import GB, KB, MB, us
from solutions.ch04.all_reduce_algorithms import all_reduce_time, crossover_bytes
from solutions.ch04.bandwidth import bus_bandwidth
from solutions.ch04.topology import parse_topology
from tests.autograder import handed_in

EXERCISES = {item.function: item for item in bank.of_chapter("ch04") if isinstance(item, Build)}
CHOICES = {item.id: item for item in bank.of_chapter("ch04") if isinstance(item, Choice)}
ORDERS = {item.id: item for item in bank.of_chapter("ch04") if isinstance(item, Order)}


def answer(identifier: str) -> str:
    choice = CHOICES[identifier]
    return choice.options[choice.correct]


# The list.


@pytest.mark.proof(part="bank")
def test_the_best_schedules_have_nodes_for_groups():
    """What the derivation says: the front has trees with few chunks at one end and the ring at the other."""
    (item,) = (item for item in bank.of_chapter("ch04") if item.id == "04-design-schedule")
    best = designs.front(item)
    assert {values[0] for values in best} == {4}
    assert best[0] == (4, 2, 2)
    assert best[-1][1] == 0


def test_the_sizes_of_the_fit_are_the_published_ones():
    assert tuple(row.microseconds for row in published.TWO_NODES) == design_sizes.MICROSECONDS
    assert [row.size for row in published.TWO_NODES] == [size for size, _ in design_sizes.ROWS]
    for low, high in (design_sizes.TENSORS, design_sizes.BUCKETS):  # both ends are held out
        held_out = [size for size, _ in design_sizes.ROWS[1::2]]
        assert {low, high} <= set(held_out)


def test_which_sizes_to_trust():
    """What the derivation says: tiny and huge sizes mislead, a fit without large buckets misses them, and the two kinds
    want different ranges. Kills a range that is best at both."""
    (item,) = (item for item in bank.of_chapter("ch04") if item.id == "04-design-sizes")
    assert designs.front(item) == ((128, 512), (512, 128), (512, 512), (2048, 128), (2048, 512))
    assert not any(smallest in (2, 8192) or largest == 32 for smallest, largest in designs.buildable(item))
    for begin in item.knobs[0].options:
        assert item.simulate(smallest=begin, largest=32).costs[1] > 75
    costs = [item.simulate(smallest=a, largest=b).costs for a, b in designs.front(item)]
    assert [round(cost[0]) for cost in costs] == sorted(round(cost[0]) for cost in costs)
    best = min(
        (item.simulate(smallest=a, largest=b) for a in item.knobs[0].options for b in item.knobs[1].options),
        key=lambda found: found.costs[1],
    )
    assert best == item.simulate(smallest=8192, largest=128)
    assert best.broken


# What the options say.


def test_a_tree_over_two_nodes_may_show_a_bus_bandwidth_above_the_port():
    """1 GB over a port of 50 GB/s takes 20 ms each way, at the same time."""
    assert bus_bandwidth("all_reduce", 1 * GB, 1 * GB / (50 * GB), 16) == pytest.approx(93.75 * GB)
    assert answer("04-busbw-above").startswith("the factor: it assumes a ring")


def test_the_way_up_and_down_is_the_programs():
    """The messages of the question, in the order in which the stepper of the page draws them."""
    drawn = [message for state in tree_states(8)[1:] for message in state.messages]
    way = [tuple(map(int, re.findall(r"\d+", step))) for step in ORDERS["04-tree-way"].steps]
    assert all(sender == before for (_, before), (sender, _) in pairwise(way))
    places = [drawn.index(message) for message in way]
    assert places == sorted(places)


def test_when_the_ring_is_never_slower():
    never = [ranks for ranks in range(1, 200) if crossover_bytes(ranks, 50 * GB, 5 * us) == 0]
    assert never == [1, 2, 3]
    assert answer("04-never-slower") == "for 1, 2 and 3 ranks"


def test_halving_doubling_is_never_slower_in_the_model():
    """So what speaks against it lies outside: it moves the ring's bytes in the double tree's start-ups."""
    for ranks in (2, 8, 64):
        for size in (0.0, 1 * KB, 1 * MB, 10 * GB):
            times = [
                all_reduce_time(n, size, ranks, 50 * GB, 5 * us) for n in ("halving_doubling", "ring", "double_tree")
            ]
            assert times[0] <= min(times) * (1 + 1e-12)
    assert answer("04-best-of-both").startswith("the distance: half of the data goes far")


def test_three_sizes_and_their_winners():
    winners = [
        min(("ring", "double_tree"), key=lambda name, size=size: all_reduce_time(name, size, 8, 50 * GB, 5 * us))
        for size in (1 * KB, 1 * MB, 100 * MB)
    ]
    assert winners == ["double_tree", "double_tree", "ring"]
    assert answer("04-tree-or-ring") == "1 KB double tree, 1 MB double tree, 100 MB ring"


def test_the_matrices_of_the_bank_are_those_of_the_page():
    mesh = shared.cube_mesh()
    stored = parse_topology(SAMPLES["cube-mesh"].text).links
    assert {a: {b: stored[a][b] for b in mesh[a]} for a in mesh} == mesh
    links = parse_topology(bank_topology.PRINTED).links
    assert (links["GPU1"]["NIC0"], links["GPU0"]["NIC0"]) == ("SYS", "PXB")
    assert "PXB" in answer("04-numa")


def test_drawn_matrices_are_read_back_as_they_were_drawn():
    """The generator of hidden cases against the reference: an oracle for both."""
    for seed in range(40):
        rng = Random(seed)
        links = bank_topology.large(rng) if seed % 8 == 0 else bank_topology.machine(rng)
        columns, tabs = rng.choice(bank_topology.COLUMNS), rng.random() < 0.5
        text = bank_topology.printed(
            rng, links, columns, tabs, underlined=rng.random() < 0.5, legend=rng.random() < 0.5
        )
        topology = parse_topology(text)
        gpus = {name for name in links if name.startswith("GPU")}
        assert topology.links == links
        assert set(topology.cpus) == gpus
        assert set(topology.numa) == (gpus if "NUMA Affinity" in columns else set())


# Rules: other right programs keep to them, and a wrong one does not.


def left_handed_tree(x):
    """A binomial tree whose ranks report to the next higher power first, with isend and irecv."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    levels = (ranks - 1).bit_length()
    total = x.clone()
    if not x.numel():
        return total
    for level in reversed(range(levels)):
        step = 2**level
        if step <= rank < 2 * step:
            dist.isend(total, rank - step).wait()
        elif rank < step and rank + step < ranks:
            arrived = torch.empty_like(total)
            dist.irecv(arrived, rank + step).wait()
            total += arrived
    for level in range(levels):
        step = 2**level
        if rank < step and rank + step < ranks:
            dist.isend(total, rank + step).wait()
        elif step <= rank < 2 * step:
            dist.irecv(total, rank - step).wait()
    return total


def warmed_up(x, calls):
    """A benchmark with a call to warm up, and a second meeting after the last one."""
    import time

    import torch.distributed as dist

    buffer = x.clone()
    dist.all_reduce(buffer)
    dist.barrier()
    start = time.monotonic()
    for _ in range(calls):
        dist.all_reduce(buffer)
    dist.barrier()
    return (time.monotonic() - start) / calls


@pytest.mark.proof(part="bank")
def test_another_binomial_tree_is_right():
    item = EXERCISES["tree_all_reduce"]
    hidden = [cases[0] for _, cases in item.hidden(Random("key 0"))]
    assert set(handed_in.faults(item, left_handed_tree, (*item.cases, *hidden))) == {None}


def test_another_benchmark_is_right():
    item = EXERCISES["debug_barrier"]
    assert handed_in.faults(item, warmed_up, item.cases) == [None, None]


def message(source: int, to: int, at: float, size: int = 4) -> list[Event]:
    return [
        Event(source, "send", (to,), size, 0, at, at + 0.5),
        Event(to, "recv", (source,), 0, size, at, at + 0.5),
    ]


def test_the_rules_of_a_tree_name_what_is_wrong():
    case = Case(args=tuple((Tensor.of([1.0]),) for _ in range(4)))
    star = [event for r in (1, 2, 3) for event in message(r, 0, r)]
    assert tree_all_reduce.tree_messages(case, (), star) == (
        "rank 0 received 3 messages; a binomial tree of 4 ranks has 2 levels"
    )
    cut = message(1, 0, 0.0, size=2)
    assert "not the whole tensor of 4 bytes" in str(tree_all_reduce.tree_messages(case, (), cut))
    many = [event for at in range(7) for event in message(1, 2, at)]
    assert str(tree_all_reduce.tree_messages(case, (), many)).startswith("7 messages were sent by 4 ranks")
    way = [(3, 2), (2, 1), (1, 0), (0, 1), (1, 2), (2, 3)]
    chain = [event for at, pair in enumerate(way) for event in message(*pair, at)]
    assert str(tree_all_reduce.tree_levels(case, (), chain)).startswith("6 messages wait for one another")
    way = [(1, 0), (3, 2), (2, 0), (0, 2), (0, 1), (2, 3)]
    assert tree_all_reduce.tree_levels(case, (), [e for at, pair in enumerate(way) for e in message(*pair, at)]) is None


def benchmark(*operations: str, seconds: float = 2.5) -> str | None:
    """What the rule says of one rank that calls these operations, each for a second, and times the last two."""
    case = Case(args=((Tensor.of([1.0]), 2),))
    events = [Event(0, name, (0,), 4, 4, at, at + 1.0) for at, name in enumerate(operations)]
    return debug_barrier.one_meeting(case, (seconds / 2,), events)


def test_the_rule_of_a_benchmark_names_what_is_wrong():
    good = ("barrier", "all_reduce", "all_reduce")
    assert benchmark(*good) is None
    assert benchmark(*good, "barrier") is None
    assert benchmark(*good, seconds=1.9) == "the time that rank 0 returned is shorter than its all-reduces took"
    assert "longer than the whole run" in str(benchmark(*good, seconds=10.0))
    assert "did not meet" in str(benchmark("all_reduce", "all_reduce"))
    assert "other operations" in str(benchmark("barrier", "all_reduce", "barrier", "all_reduce"))
    assert "other operations" in str(benchmark("barrier", "all_reduce"))


def test_a_time_that_is_no_number_is_wrong():
    """Any time counts, so that the rule decides; what is no time does not."""
    item = EXERCISES["debug_barrier"]
    right = Outcome("value", (1.0, 1.0))
    for value in ("1.0", None, float("nan"), float("inf")):
        assert compare.wrong_value(item, item.cases[0], right, Outcome("value", (1.0, value)))
