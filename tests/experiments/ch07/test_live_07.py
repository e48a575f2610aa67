"""The live runs of chapter 7: real worlds, small tensors. What they count is checked, what they time is not."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from experiments.ch07.expert_parallel_runs import HIDDEN, dense_layer, expert_parallel_run
from experiments.ch07.mesh_runs import groups_of, mesh_run
from experiments.ch07.moe_runs import CONFIG, Mixture, mixture_model, moe_runs
from experiments.ch07.pipeline_runs import blocking_calls, counted_graphs, pipeline_run
from rankzero import figures
from rankzero.sim.schedules import validate
from solutions.ch01.ranks import coordinates
from solutions.ch07 import moe
from solutions.ch07.pipeline import peak_in_flight, pipeline_schedule, simulate_schedule
from solutions.ch07.pipeline_charts import SCHEDULES, chart_text, pipeline_chart

# Charts.


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_chart_is_a_legal_schedule(name):
    found = pipeline_chart(name, 3, 6, 2 if name == "interleaved" else 1, hop=0.25)
    validate(found.orders)
    assert set(found.times) == {op for order in found.orders for op in order}
    busy = [sum(found.times[op][1] - found.times[op][0] for op in order) for order in found.orders]
    assert [a + b for a, b in zip(busy, found.idle, strict=True)] == pytest.approx([found.makespan] * 3)
    assert found.overhead == pytest.approx(found.fraction / (1 - found.fraction))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_zb_h2_is_as_published(ranks):
    """The paper's idle time, on a rank from its own first to its own last operation, and its memory.

    From the first start to the last end no schedule idles less than the forwards before the last stage: the closed
    form is not about that time.
    """
    for microbatches, backward in ((2 * ranks, 2.0), (3 * ranks + 1, 1.7), (4 * ranks, 1.2)):
        found = pipeline_chart("zb-h2", ranks, microbatches, backward=backward)
        validate(found.orders)
        half = backward / 2
        assert max(found.own_idle) == pytest.approx((ranks - 1) * (1 + half - 2 * half), abs=1e-9)
        assert found.peaks == (2 * ranks - 1,) * ranks
        assert found.makespan == pytest.approx(microbatches * (1 + backward) + ranks - 1)


@pytest.mark.parametrize(("name", "weights"), [("1f1b", -1), ("zb-h1", 1)])
def test_idle_time_of_rank_0_is_that_of_the_makespan(name, weights):
    """It starts first and ends last; (p - 1)(F + I + W) without a split, (p - 1)(F + I - W) with ZB-H1."""
    for ranks, microbatches in ((2, 4), (4, 8), (8, 12)):
        found = pipeline_chart(name, ranks, microbatches, backward=1.6)
        assert found.own_idle[0] == max(found.own_idle) == pytest.approx(max(found.idle))
        assert found.own_idle[0] == pytest.approx((ranks - 1) * (1 + 0.8 - weights * 0.8))


def test_two_steps_of_zb_h2_follow_without_a_gap():
    """Rank by rank: the next step's first forward can start when the last W has ended, where halves take no longer."""
    found = pipeline_chart("zb-h2", 4, 8)
    starts = [found.times[order[0]][0] for order in found.orders]
    ends = [found.times[order[-1]][1] for order in found.orders]
    assert [end - starts[0] for end in ends] == pytest.approx([24 + start for start in starts])


def test_a_chart_in_characters():
    """Every operation is as wide as it is long, and what is left is idle."""
    text = chart_text(pipeline_chart("1f1b", 2, 2).times, 2, columns=9)
    assert text.splitlines() == ["rank 0   ab..AA.BB", "rank 1   .aAAbBB.."]
    assert "*" in chart_text(pipeline_chart("zb-h1", 2, 2).times, 2)


@pytest.mark.proof(part="runs")
def test_the_run_of_a_pipeline_is_its_simulation_up_to_the_clock():
    """The order of the log is that of the simulation: on a rank, and from stage to stage."""
    times = pipeline_run(3, 4).times
    assert set(times) == {op for order in pipeline_schedule("1f1b", 3, 4) for op in order}
    for m in range(4):
        assert times[f"0F{m}"][1] <= times[f"1F{m}"][0] <= times[f"2F{m}"][0] <= times[f"2B{m}"][0]
        assert times[f"2B{m}"][1] <= times[f"1B{m}"][1] <= times[f"0B{m}"][1]
    assert figures.schedules.draw(times, ranks=3).alt


def test_graphs_are_counted_while_they_live():
    """Kills a count of forward passes: a graph that has been gone through is no longer there."""
    stage = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    with counted_graphs(stage) as counts:
        kept = [stage(torch.ones(2, 4)) for _ in range(3)]
        kept[0].sum().backward()
        kept.append(stage(torch.ones(2, 4)))
        del kept
        stage(torch.ones(2, 4))
    assert counts == [1, 2, 3, 3, 1]


def test_calls_of_a_stage():
    assert blocking_calls(["0F0", "0B0"], 0, 2) == [("send", 1, "0F0"), ("recv", 1, "0B0")]
    assert blocking_calls(["1F0", "1B0"], 1, 3) == [
        ("recv", 0, "1F0"),
        ("send", 2, "1F0"),
        ("recv", 2, "1B0"),
        ("send", 0, "1B0"),
    ]


@pytest.mark.parametrize("name", ["gpipe", "1f1b", "zb-h1"])
def test_memory_from_the_order_is_memory_over_time(name):
    """An independent count: sweep the simulated times, one up at the start of F, one down at the end of B or W."""
    for ranks, microbatches in ((4, 12), (4, 3), (2, 5)):
        orders = pipeline_schedule(name, ranks, microbatches)
        times = simulate_schedule(orders, {"F": 1, "B": 2, "I": 1, "W": 1})
        last = "W" if name == "zb-h1" else "B"
        for order in orders:
            moments = [(times[op][0], 1) for op in order if "F" in op] + [
                (times[op][1], -1) for op in order if last in op
            ]
            alive, most = 0, 0
            for _, change in sorted(moments):  # at one moment, what ends leaves first
                alive += change
                most = max(most, alive)
            assert most == peak_in_flight(order)


# Mixtures.


@pytest.mark.proof(part="runs")
def test_a_balancing_loss_evens_the_load():
    """And nothing else differs: both trainings begin with the same weights and text."""
    balanced, free = moe_runs((0.05, 0.0), steps=25)
    assert balanced.losses[0] == free.losses[0]
    assert balanced.loads[0] == free.loads[0]
    assert max(balanced.hottest[-5:]) < min(free.hottest[-5:])
    assert all(sum(load) == 2 * 2 * 8 * CONFIG.context for run in (balanced, free) for load in run.loads)
    assert balanced.losses[-1] < 0.6 * balanced.losses[0]
    assert set(free.dropped) == {0.0}
    assert free.shares() == sorted(free.shares(), reverse=True)
    assert sum(free.shares()) == pytest.approx(1)


def test_a_full_expert_drops():
    layer = Mixture(8, 4, 2, capacity_factor=0.5)
    layer(torch.randn(64, 8, generator=torch.Generator().manual_seed(0)))
    assert layer.dropped >= 0.5
    assert sum(layer.load) == 128


def test_a_mixture_is_the_dense_loop():
    """Without a capacity the module is the plain layer of the other run."""
    layer = Mixture(8, 4, 2, None)
    x = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(1))
    flat = x.view(15, 8)
    expected = dense_layer(flat, *moe.route(layer.router(flat), 2), list(layer.experts))
    torch.testing.assert_close(layer(x), expected.view_as(x))


def test_the_same_seed_gives_the_same_mixture():
    first, second = (dict(mixture_model(4, 2).named_parameters()) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any("experts.3" in name for name in first)


# Experts on ranks.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("tokens", [[6], [5, 0], [3, 9, 4], [16, 2, 8, 0]])
def test_the_run_is_the_dense_layer(tokens):
    ranks = len(tokens)
    run = expert_parallel_run(tokens, experts=12, top_k=2)
    assert run.output_difference < 1e-12
    assert run.gradient_difference < 1e-10
    row = HIDDEN * 8
    assert [sum(line) for line in run.matrix] == [count * 2 * row for count in tokens]
    for rank in range(ranks):
        out, back, upstream, home = run.handed_in[rank]
        assert out == upstream == tokens[rank] * 2 * row
        assert back == home == sum(line[rank] for line in run.matrix)


def test_a_wrong_layer_is_seen():
    """Kills a comparison that cannot fail."""

    def forgets_weights(x, weights, chosen, local_experts, experts):
        return moe.expert_parallel_forward(x, torch.ones_like(weights), chosen, local_experts, experts)

    assert expert_parallel_run([4, 4], experts=4, layer=forgets_weights).output_difference > 1e-3


# The mesh.


def test_groups_of_the_published_picture():
    """Llama 3, figure 5."""
    sizes = {"dp": 2, "pp": 2, "cp": 2, "tp": 2}
    assert groups_of(0, sizes) == {"tp": [0, 1], "cp": [0, 2], "pp": [0, 4], "dp": [0, 8]}
    for rank in range(16):
        mine = coordinates(rank, sizes)
        for axis, group in groups_of(rank, sizes).items():
            assert rank in group
            for other in group:
                theirs = coordinates(other, sizes)
                assert all(mine[name] == theirs[name] for name in sizes if name != axis)


def test_each_rank_sums_once_along_each_axis():
    run = mesh_run({"pp": 2, "tp": 2})
    assert run.values == ({"tp": 1, "pp": 2}, {"tp": 1, "pp": 4}, {"tp": 5, "pp": 2}, {"tp": 5, "pp": 4})
    assert all(run.ledger()[rank, "all_reduce"].calls == 2 for rank in range(4))
