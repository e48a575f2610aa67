"""The worked examples of chapter 4: each number that a text computes by hand is computed here."""

from __future__ import annotations

import pytest

from experiments.ch04.all_reduce_schedules import simulate_all_reduce
from experiments.ch04.tree_steps import tree_states
from rankzero.facts import hardware
from rankzero.facts.units import GB, KB, MB, ms, us
from rankzero.sim.network import Network
from solutions.ch03.collective_cost import ring_all_reduce_time
from solutions.ch04.all_reduce_algorithms import all_reduce_time, crossover_bytes, hierarchical_all_reduce_time
from solutions.ch04.bandwidth import bus_bandwidth
from tests.worked_examples import examples, missing

NETWORK = Network(50 * GB, 5 * us)
TWO_TREES = all_reduce_time("double_tree", 1 * MB, 4, 50 * GB, 5 * us)
CLUSTER = Network(450 * GB, 1 * us, ranks_per_node=2, inter_bandwidth=50 * GB, inter_latency=5 * us)


def micros(algorithm: str, size: float, ranks: int, network: Network = NETWORK) -> float:
    return simulate_all_reduce(algorithm, size, ranks, network).seconds / us


def message(size: float, bandwidth: float = 50 * GB, latency: float = 5 * us) -> float:
    return (latency + size / bandwidth) / us


def efficiency(tokens: float) -> float:
    compute, exchange = 6 * 2e9 * tokens / 495e12, ring_all_reduce_time(4 * GB, 8, 450 * GB)
    return compute / (compute + exchange)


h100 = next(gpu for gpu in hardware.GPUS if gpu.name.startswith("H100"))
node = next(node for node in hardware.NODES if node.gpu is h100)
COMPUTED = {
    "links-example": [
        f"400 Gb/s is {400 / 8:g} GB/s",
        f"{2 * h100.nvlink.bandwidth / GB:g} GB/s is the total of both directions",
        f"of an H100's {h100.nvlink.links} links",
        f"so {h100.nvlink.bandwidth / GB:g} GB/s one way",
        f"and {h100.nvlink.bandwidth / h100.nvlink.links / GB:g} GB/s for each link",
        f"{node.network_bandwidth * 8 / 1e12:g} Tb/s is {node.network_bandwidth / GB:g} GB/s for {node.gpus} GPUs",
        f"so {node.network_bandwidth_per_gpu / GB:g} GB/s for each",
    ],
    "ring-example": [
        f"a message carries {1 * MB / 4 / KB:g} KB",
        f"{message(250 * KB):g} µs in all",
        f"{micros('ring', 1 * MB, 4):g} µs, and half",
        f"a message would take {1 * GB / 4 / (50 * GB) / ms:g} ms",
    ],
    "trees-example": [
        "rank 1 sends its 20 to rank 0, rank 3 its 40 to rank 2",
        f"rank 2 sends {tree_states(8)[1].sums[2]:g} to rank 0, "
        f"and rank 6 sends {tree_states(8)[1].sums[6]:g} to rank 4",
        f"rank 4 sends {tree_states(8)[2].sums[4]:g} to rank 0",
        f"holds {tree_states(8)[2].sums[0]:g} + {tree_states(8)[2].sums[4]:g} = {tree_states(8)[3].sums[0]:g}",
        f"on the way down: {2 * (1000 - 1).bit_length()} for a thousand ranks",
    ],
    "wins-example": [
        f"500 KB, in 5 + {message(500 * KB) - 5:g} µs",
        f"250 KB, in 5 + {message(250 * KB) - 5:g} µs",
        f"collect the pieces: {micros('halving_doubling', 1 * MB, 4):g} µs",
        f"The ring took {micros('ring', 1 * MB, 4):g} µs",
        f"four steps of {message(1 * MB):g} µs each, {micros('tree', 1 * MB, 4):g} µs",
        f"start-ups as the single tree: four, or {4 * 5} µs",
        f"twice the tensor, {2 * MB / (50 * GB) / us:g} µs: {TWO_TREES / us:g} µs in all",
        f"A ring has $2 \\cdot {64 - 1}$ start-ups and two trees have $2 \\cdot {(64 - 1).bit_length()}$",
    ],
    "levels-example": [
        f"{2 * MB / (450 * GB) / us:.1f} µs at 450 GB/s: {message(2 * MB, 450 * GB, 1 * us):.1f} µs.",
        f"{message(1 * MB) - 5:g} µs at 50 GB/s: {2 * message(1 * MB):g} µs. Then",
        f"{micros('hierarchical', 4 * MB, 4, CLUSTER):.1f} µs in all",
        f"{message(1 * MB):g} µs: {6 * message(1 * MB):g} µs",
    ],
    "bandwidths-example": [
        f"1 GB / 4 ms = {1 / 4e-3:g} GB/s",
        f"carried {bus_bandwidth('all_reduce', 1 * GB, 4 * ms, 8) / GB:g} GB/s",
        f"{bus_bandwidth('all_reduce', 1 * GB, 4 * ms, 8) / (450 * GB):.0%}".replace("%", " percent"),
        f"the factors {2 * 1 / 2:g} and {2 * 63 / 64:.2f}",
        f"about {bus_bandwidth('all_reduce', 1 * GB, 4.375 * ms, 64) / GB:g} GB/s on the wire",
    ],
    "measure-example": [
        f"A message of 10 KB took {message(10 * KB):g} µs and one of 10 MB took {message(10 * MB):g} µs",
        f"9.99 MB more took {message(10 * MB) - message(10 * KB):.1f} µs more: {9.99 * MB / 199.8 / us / GB:.0f} GB/s",
        f"need {10 * KB / (50 * GB) / us:g} µs",
        f"1 MB should need {message(1 * MB):g} µs",
    ],
    "scale-example": [
        f"{6 * 2e9 * 1000 / 495e12 / ms:.0f} ms at 495",
        f"takes {ring_all_reduce_time(4 * GB, 8, 450 * GB) / ms:.1f} ms for them",
        f"an efficiency of {efficiency(1000):.2f}",
        f"{6 * 2e9 * 4000 / 495e12 / ms:.0f} ms and still communicate",
        f"15.6 ms: the efficiency rises to {efficiency(4000):.2f}",
    ],
}


DEEPER = {
    "crossing-example": [
        f"has {2 * 7} start-ups and either tree has {2 * 3}, so the trees save eight of them, {8 * 5} µs",
        f"{40 * us * 50 * GB / MB:g} MB",
        f"above {crossover_bytes(8, 50 * GB, 5 * us, 'tree') / MB:.2f} MB",
        f"wins above {crossover_bytes(8, 50 * GB, 5 * us) / MB:g} MB",
    ],
    "closed-levels-example": [
        f"8$ GB: {ring_all_reduce_time(8 * GB, 2, 400 * GB) / ms:g} ms",
        f"half: {ring_all_reduce_time(4 * GB, 4, 50 * GB) / ms:g} ms",
        f"Together {hierarchical_all_reduce_time(8 * GB, 4, 2, 400 * GB, 50 * GB) / ms:g} ms",
    ],
    "calculators-example": [
        f"carries {100 / 8:g} GB/s",
        f"moves {2 * 7 / 8 * 100:g} MB",
        f"takes {ring_all_reduce_time(100 * MB, 8, 12.5 * GB) / ms:g} ms",
        f"says {ring_all_reduce_time(100 * MB, 8, 100 * GB) / ms:g} ms",
    ],
}


FOUND, FOUND_DEEPER = examples("04-topology"), examples("deeper/04-topology-deeper")
#: Examples without a number to compute: who sends to whom, and which hops a ring has.
IN_WORDS = {"two-trees-example", "matrix-example"}


@pytest.mark.parametrize("name", COMPUTED)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(FOUND[name], COMPUTED[name]) == []


@pytest.mark.parametrize("name", DEEPER)
def test_the_numbers_of_an_example_of_the_deeper_page(name):
    assert missing(FOUND_DEEPER[name], DEEPER[name]) == []


def test_every_example_with_a_number_is_computed():
    assert FOUND.keys() == COMPUTED.keys()
    assert FOUND_DEEPER.keys() - DEEPER.keys() == IN_WORDS


def test_the_simulated_crossing_is_where_the_page_says():
    """Kills a claim of 4.4: with a start-up for every chunk the trees win at 8 MB and lose at 32, on 64 ranks."""
    assert crossover_bytes(64, 50 * GB, 5 * us) / MB == pytest.approx(912)
    for size, trees_win in ((8 * MB, True), (32 * MB, False)):
        many = (8, 16, 24, 32, 48, 64)
        trees = min(simulate_all_reduce("double_tree", size, 64, NETWORK, chunks).seconds for chunks in many)
        assert (trees < simulate_all_reduce("ring", size, 64, NETWORK).seconds) == trees_win


def test_rings_over_all_ports_would_take_longer_than_was_measured():
    """Kills the figure of a verdict in 4.6: rings of 16 push 2 * 15/16 * S out of each of two nodes."""
    assert 2 * 15 / 16 * 16 * 2**30 / (400 * GB) / ms == pytest.approx(80, rel=0.01)
