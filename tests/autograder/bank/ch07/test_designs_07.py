"""Chapter 7's designs: judged as a brute force judges them, several good layouts each, and refusals in words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import product
from random import Random

import numpy as np
import pytest

from autograder.bank.ch07 import design_layouts as designs
from autograder.bank.ch07.designs_judged import Priced, Task, indivisible, priced
from autograder.items import Design
from autograder.maintenance import verifying
from autograder.marking import questions
from autograder.marking.designs import front, table
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.units import GB
from solutions.ch04.all_reduce_algorithms import hierarchical_all_reduce_time
from solutions.ch07.layout import step_parts
from solutions.ch07.placed_groups import bandwidths
from tests.solutions import plain_layouts as again

TASKS = {
    "70b": designs.DENSE,
    "moe": designs.MIXTURE,
    "long": designs.LONG,
    "slow": designs.SLOW,
}
DESIGNS = {item.id.removeprefix("07-design-"): item for item in designs.DESIGNS}
REASONS = {item.id.removeprefix("07-reason-"): item for item in designs.REASONS}
everyone = pytest.mark.parametrize("name", TASKS)


# A second judge: it slices, places and prices every layout in its own way, and finds the front by a sweep.


@dataclass(frozen=True)
class Point:
    """A layout that exists: seconds, bytes, and whether it fits and is fast enough."""

    seconds: float
    memory: float
    built: bool


def evenly(things: int, ranks: int) -> bool:
    return {len(part) for part in np.array_split(np.arange(things), ranks)} == {things // ranks} and things >= ranks


def exists(job: Job, tp: int, cp: int, pp: int, dp: int, ep: int) -> bool:
    model = job.model
    shared_heads = model.kv_heads < tp and evenly(tp, model.kv_heads)
    return (
        tp * cp * pp * dp == job.gpus
        and evenly(model.heads, tp)
        and (evenly(model.kv_heads, tp) or shared_heads)
        and (cp == 1 or (evenly(job.sequence, 2 * cp) and job.sequence // cp >= 4096))
        and evenly(job.global_batch, dp)
        and (ep == 1 or (evenly(model.experts, ep) and evenly(dp, ep)))
    )


def near(sizes: dict[str, int], axes: str, per_node: int) -> tuple[int, int]:
    """Members of the first group along ``axes``, and how many of them are in the first node."""
    grid = np.arange(int(np.prod(list(sizes.values())))).reshape(list(sizes.values()))
    found = grid[tuple(slice(None) if axis in axes.split() else 0 for axis in sizes)].ravel()
    return len(found), int((found < per_node).sum())


def seconds(job: Job, layout: Layout, inside: bool) -> float:
    """A step, message by message."""
    model, rest = job.model, layout.dp // layout.ep
    outer = {"pp": layout.pp, "dp": rest} if inside else {"dp": rest, "pp": layout.pp}
    sizes = {**outer, "ep": layout.ep, "cp": layout.cp, "tp": layout.tp}
    fast, slow = job.node_bandwidth, job.network_bandwidth

    def reduced(size: float, axes: str) -> float:
        ranks, here = near(sizes, axes, job.gpus_per_node)
        return hierarchical_all_reduce_time(size, ranks // here, here, fast, slow)

    def link(axes: str) -> float:
        ranks, here = near(sizes, axes, job.gpus_per_node)
        return fast if here == ranks else slow

    def swapped(size: float) -> float:
        ranks, here = near(sizes, "ep", job.gpus_per_node)
        return size / ranks * max((here - 1) / fast, (ranks - here) / slow)

    layers, passes = -(-model.layers // layout.pp), 3 if layout.recompute else 2
    microbatches = job.global_batch // layout.dp
    tensor = 2 * job.sequence * model.hidden / layout.cp
    keys = 2 * 2 * job.sequence * model.kv_heads * model.head_dim / layout.tp
    compute = step_parts(layout, job)["compute"] / microbatches
    unit = compute + layers * passes * (
        2 * reduced(tensor, "tp")
        + keys * (layout.cp - 1) / layout.cp / link("cp")
        + 2 * swapped(model.top_k * tensor / layout.tp)
    )
    unit += 2 * tensor / layout.tp / link("pp") if layout.pp > 1 else 0
    expert = 3 * model.hidden * model.expert_ffn * model.experts
    queries, values = model.heads * model.head_dim, model.kv_heads * model.head_dim
    dense = model.hidden * model.experts if model.experts else 3 * model.hidden * model.ffn
    block = 2 * model.hidden * (queries + values) + 2 * model.hidden + dense
    ends = model.vocab * model.hidden * (1 if layout.pp > 1 else 2) + (0 if layout.pp > 1 else model.hidden)
    shared, routed = (layers * block + ends) / layout.tp, layers * expert / layout.tp / layout.ep
    whole = reduced(2 * shared, "dp ep cp") + reduced(2 * routed, "dp cp")
    total = (microbatches + layout.pp - 1) * unit
    if layout.zero == 1:
        return total + max(0, whole - 2 / 3 * unit)
    return total + microbatches * max(0, 3 / 2 * whole - unit)


def all_points(task: Task) -> dict[tuple[int, ...], Point]:
    """Every layout of a task that exists."""
    names, job, found = [knob.name for knob in task.knobs], task.job, {}
    for values in product(*(knob.options for knob in task.knobs)):
        chosen = {"tp": 1, "cp": 1, "pp": 1, "ep": 1, "zero": 1, "recompute": 0, "replicas_inside": 0}
        chosen |= dict(zip(names, values, strict=True))
        tp, cp, pp, ep = (chosen[name] for name in ("tp", "cp", "pp", "ep"))
        dp = job.gpus // (tp * cp * pp)
        if dp and exists(job, tp, cp, pp, dp, ep):
            layout = Layout(tp, cp, pp, dp, ep, chosen["zero"], recompute=bool(chosen["recompute"]))
            memory = sum(again.layout_memory(layout, job))
            taken = seconds(job, layout, bool(chosen["replicas_inside"]))
            found[values] = Point(taken, memory, memory <= 0.9 * job.gpu_memory and taken <= task.limit)
    return found


def best(points: dict[tuple[int, ...], Point]) -> set[tuple[int, ...]]:
    """The front by comparing every pair: a share of a thousandth is no difference."""
    built = {values: (p.seconds, p.memory) for values, p in points.items() if p.built}

    def better(one: tuple[float, float], other: tuple[float, float]) -> bool:
        shares = [a / b - 1 for a, b in zip(one, other, strict=True)]
        return max(shares) <= 1e-3 and min(shares) < -1e-3

    return {values for values, own in built.items() if not any(better(other, own) for other in built.values())}


@everyone
def test_layouts_are_judged_as_by_brute_force(name):
    """Sixty drawn layouts and the whole front: right or not, built or refused, and both costs."""
    task, item = TASKS[name], DESIGNS[name]
    points = all_points(task)
    right = best(points)
    assert set(front(item)) == right
    everything = list(product(*(knob.options for knob in task.knobs)))
    for values in (*Random(name).sample(everything, 60), *sorted(right)):
        verdict = questions.judge(item, (item.choices(values),))
        made, point = table(item)[values], points.get(values)
        assert verdict.right == (values in right), values
        assert bool(made.broken) == (point is None or not point.built), values
        if point:
            assert made.costs == pytest.approx((point.seconds, point.memory / GB)), values


# Good layouts.


@everyone
def test_three_good_layouts_at_least(name):
    """Different ones: they differ in time and in memory, and none is twice as slow as another."""
    item = DESIGNS[name]
    costs = {tuple(round(cost, 6) for cost in table(item)[values].costs) for values in front(item)}
    assert len(costs) >= 3
    assert max(costs)[0] < 2 * min(costs)[0]


GOOD = {
    "70b": [
        {"tp": 2, "pp": 1, "zero": 3, "recompute": 0},
        {"tp": 8, "pp": 4, "zero": 1, "recompute": 0},
        {"tp": 1, "pp": 1, "zero": 3, "recompute": 1},
    ],
    "moe": [
        {"tp": 1, "pp": 2, "ep": 8, "zero": 3},
        {"tp": 2, "pp": 4, "ep": 4, "zero": 1},
        {"tp": 4, "pp": 4, "ep": 2, "zero": 1},
    ],
    "long": [
        {"tp": 4, "cp": 4, "pp": 1, "recompute": 0},
        {"tp": 8, "cp": 4, "pp": 1, "recompute": 0},
        {"tp": 8, "cp": 8, "pp": 1, "recompute": 0},
    ],
    "slow": [
        {"tp": 1, "pp": 2, "zero": 1, "replicas_inside": 1},
        {"tp": 4, "pp": 4, "zero": 1, "replicas_inside": 1},
        {"tp": 8, "pp": 2, "zero": 1, "replicas_inside": 0},
    ],
}


@pytest.mark.parametrize(("name", "choices"), [(name, one) for name, several in GOOD.items() for one in several])
def test_a_good_layout_is_accepted(name, choices):
    assert questions.judge(DESIGNS[name], (choices,)).right


# Refusals.


REFUSED = [
    ("70b", (1, 1, 1, 0), "only 72 GB of the GPU's 80 GB may be used. Most of it is model states."),
    ("70b", (1, 1, 3, 0), "only 72 GB of the GPU's 80 GB may be used. Most of it is activations."),
    ("70b", (8, 16, 1, 0), "one replica would take 128 GPUs, and there are 64."),
    ("70b", (16, 1, 1, 0), "comes from the all-reduces of TP 16, which cross the node boundary."),
    ("70b", (2, 4, 3, 0), "only 72 GB of the GPU's 80 GB may be used. Most of it is activations."),
    ("70b", (4, 2, 3, 0), "comes from the weights and gradients of DP 8, which cross the node boundary."),
    ("70b", (4, 16, 1, 0), "uneven stages: 80 layers and the output head cannot be divided evenly by 16."),
    ("70b", (1, 2, 3, 1), "comes from the forward pass that recomputation repeats."),
    ("moe", (1, 1, 16, 1), "EP 16 does not divide the 8 experts."),
    ("moe", (4, 4, 8, 1), "EP 8 needs as many replicas to divide the experts among, and DP is 4."),
    ("moe", (2, 4, 8, 1), "comes from the all-to-alls of EP 8, which cross the node boundary."),
    ("moe", (8, 1, 1, 1), "comes from the all-reduces of TP 8, which nothing hides."),
    ("long", (1, 1, 1, 0), "the batch of 32 sequences cannot be divided evenly among 64 replicas."),
    ("long", (1, 64, 1, 0), "CP 64 leaves 2,048 tokens of a sequence to a rank, fewer than 4,096."),
    ("long", (1, 16, 1, 1), "comes from the keys and values of CP 16, which cross the node boundary."),
    ("long", (1, 1, 2, 1), "comes from idle stages: a replica has only 1 micro-batch for 2 stages."),
    ("slow", (16, 1, 1, 0), "TP 16 does not divide the 40 attention heads."),
    ("slow", (1, 8, 1, 1), "comes from the messages between 8 stages, which cross the node boundary."),
    ("slow", (1, 8, 1, 0), "comes from the gradients of DP 8, which cross the node boundary."),
]


@pytest.mark.parametrize(("name", "values", "words"), REFUSED)
def test_what_cannot_be_built_is_refused_in_words(name, values, words):
    item = DESIGNS[name]
    assert table(item)[values].broken.endswith(words)
    assert not questions.judge(item, (item.choices(values),)).right


def test_more_stages_than_layers_are_refused():
    """No option of a design reaches it; a job with fewer layers does."""
    job = replace(designs.DENSE.job, model=replace(designs.DENSE.job.model, layers=8))
    assert indivisible({"pp": 16}, job) == "16 stages are more than the 8 layers."


@everyone
def test_the_sentences_say_the_numbers(name):
    """Seconds, GB and the comparison with the best are those of the costs; each part of a step is listed once."""
    task, item = TASKS[name], DESIGNS[name]
    built = {values: made for values, made in table(item).items() if not made.broken}
    shortest, smallest = (min(made.costs[axis] for made in built.values()) for axis in (0, 1))
    for made in built.values():
        time, memory = made.costs
        assert f"A step takes {time:.3g} s: " in made.told
        states, activations = map(float, re.findall(r"([\d.]+) GB", made.told))
        assert states + activations == pytest.approx(memory, rel=0.01)
        assert f"That is {time / shortest:.2f} times the shortest step" in made.told
        assert f"and {memory / smallest:.2f} times the smallest memory" in made.told
        work, *losses = (float(number) for number in re.findall(r"([\d.]+) s for ", made.told))
        assert work + sum(losses) == pytest.approx(time, rel=0.03)
    assert all(made.costs[0] <= task.limit for made in built.values())


# Cards and reasons.


@pytest.mark.parametrize("item", designs.QUESTIONS, ids=lambda item: item.id)
def test_the_items_hold_what_is_asked_of_every_item(item):
    assert verifying.question(item) == []
    assert isinstance(item, Design) or set(item.slips) == {1, 2, 3}


@everyone
def test_options_are_of_about_equal_length(name):
    lengths = [len(option) for option in REASONS[name].options]
    assert max(lengths) < 1.35 * min(lengths)


def one(name: str, **choices: int) -> Priced:
    """A layout of a task; what is not chosen is 1, or no."""
    none = {knob.name: min(knob.options) for knob in TASKS[name].knobs}
    return priced(TASKS[name], **{**none, **choices})


def test_with_tp_2_only_zero_3_and_two_stages_fit():
    """What the card's explanation says of layouts without recomputation: none fits with TP 1, and few with TP 2."""
    task, built = TASKS["70b"], set()
    for tp, pp, zero in product((1, 2), (1, 2, 4, 8, 16), (1, 3)):
        if one("70b", tp=tp, pp=pp, zero=zero).memory <= task.room:
            built.add((tp, pp, zero))
    assert built == {(2, 1, 3), (2, 2, 3)}


def test_why_a_stage_is_slower_with_fewer_weights():
    """TP 2 with ZeRO-3, alone and with four stages: gathering takes nearly as long, four times as often."""
    alone, two, staged = (one("70b", tp=2, pp=stages, zero=3) for stages in (1, 2, 4))
    assert two.seconds > TASKS["70b"].limit
    assert max(alone.memory, two.memory) < TASKS["70b"].room < staged.memory < TASKS["70b"].room + 0.6 * GB
    assert staged.microbatches == 4 * alone.microbatches == 128
    gathers = []
    for layout in (alone.layout, staged.layout):
        share = (layout.dp - 1) / layout.dp / (layout.tp * layout.pp)
        gathers.append(share / bandwidths(layout, TASKS["70b"].job)["dp"])
    assert 2 / 3 < gathers[1] / gathers[0] < 3 / 4
    assert alone.parts["DP"] == 0
    assert staged.parts["DP"] > 0.8 * (staged.seconds - alone.seconds)
    assert staged.parts["idle"] < 0.05 * (staged.seconds - alone.seconds)


def test_zero_3_is_fast_without_stages_or_with_every_expert_on_a_gpu_of_its_own():
    """What the explanations of both cards say of ZeRO-3 and time."""
    staged = [one("70b", tp=tp, pp=pp, zero=3) for tp in (1, 2, 4, 8) for pp in (2, 4, 8, 16) if tp * pp <= 64]
    seconds = [layout.seconds for layout in staged if layout.memory <= TASKS["70b"].room]
    assert len(seconds) > 5
    assert min(seconds) > TASKS["70b"].limit
    for stages in (1, 2):
        within = [ep for ep in (1, 2, 4, 8) if one("moe", pp=stages, ep=ep, zero=3).seconds <= TASKS["moe"].limit]
        assert within == [8]


def test_why_tp_2_slows_ep_8_down():
    alone, both = one("moe", ep=8, zero=3), one("moe", tp=2, ep=8, zero=3)
    assert "EP" in both.across
    assert "EP" not in alone.across
    assert both.parts["EP"] > 4 * alone.parts["EP"]
    assert both.parts["TP"] < (both.parts["EP"] - alone.parts["EP"]) / 3
    assert both.parts["EP"] > one("moe", tp=2, ep=4, zero=3).parts["EP"] * 4


def test_why_tp_and_cp_share_the_work():
    """Four rings with a quarter of the heads; both cross nodes, and the one alone does not fit."""
    alone, both = one("long", cp=16), one("long", tp=4, cp=4)
    assert "CP" in alone.across
    assert "CP" in both.across
    assert both.memory < TASKS["long"].room < alone.memory
    assert alone.parts["CP"] / both.parts["CP"] == pytest.approx(4 * (15 / 16) / (3 / 4))


@pytest.mark.parametrize(("tp", "pp"), [(1, 2), (2, 2), (2, 4), (4, 2)])
def test_replicas_inside_save_more_bytes_than_stages_across_add(tp, pp):
    """Counted through one port: shares of gradients and of an activation; the order matters on these layouts."""
    job = TASKS["slow"].job
    stages, replicas = (one("slow", tp=tp, pp=pp, replicas_inside=inside) for inside in (0, 1))
    dp, per_node = 64 // (tp * pp), 8
    gradients = 2 * job.model.parameters / (tp * pp)

    def through_port(here: int) -> float:
        nodes = dp // here
        return 2 * (nodes - 1) / nodes * gradients / here

    added = 2 * replicas.microbatches * 2 * job.sequence * job.model.hidden / tp
    saved = through_port(max(1, per_node // (tp * pp))) - through_port(min(dp, per_node // tp))
    assert saved > added
    assert replicas.seconds < stages.seconds
    hidden = 2 / 3 * (stages.seconds - stages.parts["DP"]) / (stages.microbatches + pp - 1)
    assert stages.parts["DP"] > hidden  # more of the gradients is exposed than hides behind a backward pass
