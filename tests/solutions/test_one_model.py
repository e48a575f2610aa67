"""The course's models agree: one network, one count of a layer's activations, one meaning of an option's name."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import log

import pytest

from experiments.ch04.all_reduce_schedules import simulate_all_reduce
from experiments.ch04.explorers import plans
from experiments.ch06.explorers import how_far
from rankzero.facts.hardware import DGX_H100, H100_SXM
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import GPT3_175B, LLAMA3_8B, LLAMA3_70B, LLAMA3_405B, Model
from rankzero.facts.plans import RunLayout
from rankzero.sim.network import Network
from solutions.ch03.collective_cost import ring_all_reduce_time, traffic
from solutions.ch03.collective_semantics import collective_outputs
from solutions.ch04.all_reduce_algorithms import all_reduce_time, crossover_bytes, hierarchical_all_reduce_time
from solutions.ch04.bandwidth import bus_bandwidth
from solutions.ch04.spanning_groups import group_bandwidth
from solutions.ch06.activation_memory import activation_bytes
from solutions.ch06.activations import tensor_parallel_traffic
from solutions.ch06.layer_memory import stored_by_layer
from solutions.ch07.layout import layout_memory, step_parts
from solutions.ch07.placed_groups import bandwidths
from solutions.ch13.kl import estimator_moments, expected_kl_gradient
from solutions.ch15 import llama_405b
from solutions.ch15.run_plan import memory_per_stage, traffic_per_gpu
from tools.common import ROOT

INSIDE, PORT = DGX_H100.gpu.nvlink.bandwidth, DGX_H100.network_bandwidth_per_gpu

# One network model: two nodes of eight H100s, an all-reduce of the activations of 4,096 tokens of width 8,192.

TOKENS, HIDDEN, TENSOR = 4096, LLAMA3_70B.hidden, 2 * 4096 * LLAMA3_70B.hidden
#: Tensor parallelism over both nodes, with one layer of the 70B model and one micro-batch.
JOB = Job(replace(LLAMA3_70B, layers=1), 16, 1, TOKENS, node_bandwidth=INSIDE, network_bandwidth=PORT)
ACROSS = Layout(16, 1, 1, 1)


def by_hand() -> float:
    """Reduce-scatter and all-gather inside a node, and between them an eighth of the tensor through each port."""
    return 2 * 7 / 8 * TENSOR / INSIDE + 2 * 1 / 2 * TENSOR / 8 / PORT


def by_the_explorer() -> float:
    """6.9 divides a layer's four all-reduces by its matrix products, in percent."""
    rows = how_far(HIDDEN, 16, "H100", 100.0, INSIDE, PORT)["data"]["values"]
    percent = next(row["percent"] for row in rows if row["ranks"] == 16)
    return percent / 100 * 72 * TOKENS * HIDDEN**2 / 16 / H100_SXM.peak_bf16 / 4


def by_the_capstone() -> float:
    """15.3 counts bytes; the group's rate is that of the course's model."""
    return sent_by_the_plan(16) / group_bandwidth(16, 8, INSIDE, PORT) / 4


def sent_by_the_plan(tp: int, recompute: str = "none") -> float:
    layout = RunLayout(tp, 1, 1, 1, microbatches=1, micro_tokens=TOKENS, sequence=TOKENS, recompute=recompute)
    return traffic_per_gpu(JOB.model, layout)["tp"]


NETWORKS: dict[str, Callable[[], float]] = {
    "4.5, the explorer": lambda: sum(plans(TENSOR, 2, 8, INSIDE, PORT, 8)["two levels"].values()),
    "4.14, the formula": lambda: hierarchical_all_reduce_time(TENSOR, 2, 8, INSIDE, PORT),
    "6.6, the bytes": lambda: tensor_parallel_traffic(TOKENS, 1, HIDDEN, 16) / 4 / group_bandwidth(16, 8, INSIDE, PORT),
    "6.9, the explorer": by_the_explorer,
    "7.12, the advisor": lambda: step_parts(ACROSS, JOB)["TP"] / 4,
    "15.3, the plan": by_the_capstone,
}


@pytest.mark.parametrize("where", NETWORKS)
def test_two_nodes_of_eight_take_the_same_time_everywhere(where):
    """Kills a group that has one port in each node, and a ring that is as slow as its slowest link."""
    assert NETWORKS[where]() == pytest.approx(by_hand(), rel=0.01)
    assert ring_all_reduce_time(TENSOR, 16, PORT) > 5 * by_hand()


def test_the_simulated_network_agrees():
    """The simulator of 4.5 sends the messages of two levels one by one."""
    network = Network(INSIDE, ranks_per_node=8, inter_bandwidth=PORT)
    assert simulate_all_reduce("hierarchical", TENSOR, 16, network).seconds == pytest.approx(by_hand(), rel=0.01)


def test_the_capstones_links_are_the_advisors():
    """15.3 takes NVLink for TP, and a port of each GPU for PP and DP, because TP fills the nodes."""
    stage = next(row for row in llama_405b.STAGES if row.name == "B")
    layout = Layout(stage.tp, stage.cp, stage.pp, stage.dp, zero=2)
    found = bandwidths(layout, Job(LLAMA3_405B, layout.gpus, 2048, 8192))
    assert found["tp"] == pytest.approx(INSIDE, rel=0.01)
    assert found["pp"] == found["dp"] == pytest.approx(llama_405b.NETWORK, rel=0.01)


# One count of a layer's activations.


def of_chapter_6(model: Model, recompute: str = "none") -> float:
    return activation_bytes(model, TOKENS, 8, True, recompute)


def of_chapter_7(model: Model) -> float:
    one = replace(model, layers=1)
    return layout_memory(Layout(8, 1, 1, 1), Job(one, 8, 1, TOKENS))[1]


def of_chapter_15(model: Model, recompute: str = "none") -> float:
    return memory_per_stage(replace(model, layers=1), [1], 8, 1, 1, 1, TOKENS, recompute=recompute)[0]["activations"]


@pytest.mark.parametrize("model", [LLAMA3_8B, LLAMA3_70B, LLAMA3_405B], ids=lambda model: model.name)
def test_a_layer_keeps_the_same_bytes_everywhere(model):
    """Kills the advisor that counts a Llama layer as one of GPT-3's."""
    assert of_chapter_7(model) == pytest.approx(of_chapter_6(model), rel=1e-12)
    assert of_chapter_15(model) == pytest.approx(of_chapter_6(model), rel=1e-12)


def test_a_layer_with_dropout_is_gpt_3s():
    """The advisor lets attention run again, or be flash attention: no matrix of it is stored."""
    kept = of_chapter_6(GPT3_175B, "selective")
    assert of_chapter_7(GPT3_175B) == pytest.approx(kept, rel=1e-12)
    assert kept == 34 * TOKENS * GPT3_175B.hidden / 8
    assert of_chapter_6(LLAMA3_70B) / (TOKENS * HIDDEN / 8) == pytest.approx(40.5)


def test_a_recomputed_layer_keeps_its_input_everywhere():
    kept = of_chapter_6(LLAMA3_70B, "full")
    two = replace(LLAMA3_70B, layers=2), replace(LLAMA3_70B, layers=1)
    held = [layout_memory(Layout(8, 1, 1, 1, recompute=True), Job(one, 8, 1, TOKENS))[1] for one in two]
    assert kept == of_chapter_15(LLAMA3_70B, "full") == pytest.approx(held[0] - held[1])


# One meaning of each option's name.


def checked(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Function, argument and option of every closed set that a module's functions check."""
    sets: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            sets |= {ast.unparse(target): node.value for target in node.targets}
        elif isinstance(node, ast.AnnAssign) and node.value:
            sets[ast.unparse(node.target)] = node.value
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "checks.one_of":
                allowed = sets.get(ast.unparse(call.args[0]), call.args[0])
                keys = allowed.keys if isinstance(allowed, ast.Dict) else getattr(allowed, "elts", [])
                names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
                yield from ((function.name, word.arg or "", name) for word in call.keywords for name in names)


@functools.cache
def shared() -> dict[tuple[str, str], frozenset[str]]:
    """Argument and option -> the functions of ``solutions`` that know it, where there are several."""
    found = defaultdict(set)
    for path in sorted((ROOT / "solutions").rglob("*.py")):
        for function, argument, option in checked(ast.parse(path.read_text(encoding="utf-8"))):
            found[argument, option].add(function)
    return {words: frozenset(names) for words, names in found.items() if len(names) > 1}


def recomputed(option: str) -> None:
    """As many bytes are kept, and the forward pass's collectives run again only where the whole layer does."""
    model, kinds = LLAMA3_70B, {"attention": "flash", "gated": True, "dropout": False}
    if option != "cheap":  # chapter 6 does not know it
        shape = (TOKENS, 1, model.hidden, model.heads, model.ffn, model.kv_heads, 8, True)
        assert stored_by_layer(*shape, recompute=option, **kinds) == of_chapter_6(model, option)
    if option == "selective":  # chapter 15 does not know it: without a matrix of attention it drops nothing
        assert of_chapter_6(model, option) == of_chapter_6(model)
        return
    if option != "cheap":
        assert of_chapter_15(model, option) == pytest.approx(of_chapter_6(model, option))
    sent, plain = (sent_by_the_plan(8, how) for how in (option, "none"))
    again = tensor_parallel_traffic(TOKENS, 1, HIDDEN, 8, backward=False) if option == "full" else 0
    assert sent == pytest.approx(plain + again)


def collective(option: str) -> None:
    """Who gets a result is sent bytes for it, and a wire carries what the busiest rank sends."""
    root, inputs = 1, [[float(8 * rank + i) for i in range(8)] for rank in range(4)]
    given = [row if rank == root or option != "scatter" else None for rank, row in enumerate(inputs)]
    results = collective_outputs(option, given, root=root)
    for rank, result in enumerate(results):
        if result is not None and result != given[rank] and (option != "scatter" or rank != root):
            assert traffic(option, 8.0, 4, rank, root)[1] > 0, rank
    if option not in ("scatter", "gather"):  # nccl-tests measures them in another way
        busiest = max(traffic(option, 8.0, 4, rank, root)[0] for rank in range(4))
        assert bus_bandwidth(option, 8.0, 1.0, 4) == pytest.approx(busiest)


def crossing(option: str) -> None:
    """At the size where one function says that the ring overtakes a tree, the other gives both the same time."""
    size = crossover_bytes(64, PORT, 5e-6, option)
    ring, tree = (all_reduce_time(name, size, 64, PORT, 5e-6) for name in ("ring", option))
    assert ring == pytest.approx(tree)


def estimated(option: str) -> None:
    """In the reward the gradient of outcome i is p_i (k_i - mean), which gives back the variance of the estimates."""
    p, q = (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)
    gradient = expected_kl_gradient([log(x) for x in p], [log(x) for x in q], option, "reward")
    variance = sum(g**2 / x for g, x in zip(gradient, p, strict=True))
    assert variance == pytest.approx(estimator_moments(p, q, option)[1])


#: Argument -> the functions that share its options, and the check that an option means the same in all of them.
MEANINGS: dict[str, tuple[set[str], Callable[[str], None]]] = {
    "recompute": ({"activation_bytes", "stored_by_layer", "memory_per_stage", "traffic_per_gpu"}, recomputed),
    "operation": ({"traffic", "collective_outputs", "bus_bandwidth"}, collective),
    "algorithm": ({"all_reduce_time", "crossover_bytes"}, crossing),
    "estimator": ({"estimator_moments", "expected_kl_gradient"}, estimated),
}


@pytest.mark.parametrize("argument", MEANINGS)
def test_an_option_means_the_same_in_every_function(argument):
    """Kills a second "selective"; a name that a further function takes up fails until its meaning is compared here."""
    functions, compare = MEANINGS[argument]
    for option in (option for name, option in shared() if name == argument):
        assert shared()[argument, option] <= functions
        compare(option)


def test_there_are_shared_names_to_compare():
    assert {argument for argument, _ in shared()} == set(MEANINGS)
