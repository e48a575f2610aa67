"""The explorers of chapter 7: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import product

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch07.explorers import (
    MODELS,
    OWN,
    balance_of,
    expert_routing,
    expert_traffic,
    hottest_rank,
    layouts,
    pipelines,
    priced,
)
from experiments.ch07.routing_counts import dropped_share, expert_loads, popularity, random_choices
from rankzero.explore import VEGA_LITE
from rankzero.facts.layouts import Job
from rankzero.facts.units import GB
from solutions.ch07.experts import all_to_all_bytes, expert_capacity, keep_within_capacity
from solutions.ch07.layout import candidates, choose_layout, step_time
from solutions.ch07.pipeline import bubble_fraction, bubble_overhead
from solutions.ch07.pipeline_charts import SCHEDULES, pipeline_chart

pipes = st.fixed_dictionaries(
    {
        "schedule": st.sampled_from(sorted(SCHEDULES)),
        "ranks": st.integers(1, 8),
        "microbatches": st.integers(1, 32),
        "virtual_stages": st.sampled_from((1, 2, 4)),
        "backward_ratio": st.floats(1, 3),
        "hop": st.floats(0, 1),
        "slow_last_stage": st.floats(1, 2),
    }
)
routers = st.fixed_dictionaries(
    {
        "tokens": st.integers(64, 2048),
        "experts": st.sampled_from((4, 8, 16, 32, 64, 128)),
        "top_k": st.sampled_from((1, 2, 4, 8)),
        "capacity_factor": st.floats(0.5, 2),
        "skew": st.floats(0, 1.5),
    }
)
traffics = st.fixed_dictionaries(
    {
        "tokens": st.integers(256, 65536),
        "top_k": st.sampled_from((1, 2, 4, 8)),
        "ranks": st.sampled_from((2, 4, 8, 16, 32, 64)),
        "hidden": st.sampled_from((2048, 7168)),
        "once_per_rank": st.sampled_from(("one row for each expert", "one row for each rank")),
        "skew": st.floats(0, 1.5),
    }
)
jobs = st.fixed_dictionaries(
    {
        "model": st.sampled_from([*sorted(MODELS), OWN]),
        "billion_parameters": st.floats(1, 2000),
        "gpus": st.sampled_from((8, 64, 512, 16384)),
        "gpu_memory": st.sampled_from((24 * GB, 80 * GB, 192 * GB)),
        "global_batch": st.sampled_from((64, 1024, 4096)),
        "sequence": st.sampled_from((2048, 8192, 131072)),
        "network_bandwidth": st.floats(12.5 * GB, 400 * GB),
        "efficiency": st.floats(0.3, 0.7),
    }
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("explorer", "states"), [(pipelines, pipes), (expert_routing, routers), (expert_traffic, traffics), (layouts, jobs)]
)
def test_every_state_is_a_chart(explorer, states):
    @settings(max_examples=4, deadline=None)
    @given(states)
    def check(state):
        assert drawn(explorer(**state)).startswith("<svg")

    check()


# Pipelines.


@pytest.mark.parametrize(("name", "cut"), [("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("interleaved", 4)])
def test_a_chart_has_the_idle_time_of_the_closed_form(name, cut):
    for ranks in (1, 2, 5):
        found = pipeline_chart(name, ranks, 2 * ranks, cut)
        assert found.fraction == pytest.approx(bubble_fraction(ranks, 2 * ranks, cut))
        assert found.overhead == pytest.approx(bubble_overhead(ranks, 2 * ranks, cut))


def test_the_charts_of_the_page():
    assert pipeline_chart("1f1b", 4, 8, slow={3: 1.23}).makespan == pytest.approx(38.52)
    assert pipeline_chart("1f1b", 4, 8, hop=0.5).makespan == 41
    assert pipeline_chart("interleaved", 4, 12, 4).makespan == 38.25
    halves = pipeline_chart("zb-h1", 4, 8)
    assert (halves.makespan, halves.idle, halves.peaks) == (27, (3,) * 4, (4,) * 4)


def test_the_picture_holds_every_operation():
    rows = pipelines(ranks=3, microbatches=4)["vconcat"][0]["data"]["values"]
    assert {row["operation"] for row in rows} == {f"{s}{kind}{m}" for s in range(3) for m in range(4) for kind in "FB"}
    assert {row["lane"] for row in pipelines("interleaved", 2, 3)["vconcat"][0]["data"]["values"]} == {0, 1}


# Routing.


def test_a_fair_router_has_the_drops_of_the_page():
    """Kills a router whose tokens visit one expert twice, or whose draw has favourites."""
    for tokens, share in ((4096, 0.035), (512, 0.098)):
        found = [
            dropped_share(expert_loads(random_choices(tokens, 64, 2, seed=seed), 64), expert_capacity(tokens, 64, 2))
            for seed in range(8)
        ]
        assert sum(found) / 8 == pytest.approx(share, abs=0.004)


@given(st.integers(1, 200), st.integers(1, 12), st.floats(0, 1.5), st.data())
def test_tokens_choose_different_experts(tokens, experts, skew, data):
    top_k = data.draw(st.integers(1, experts))
    choices = random_choices(tokens, experts, top_k, skew)
    assert all(len(set(own)) == top_k and set(own) <= set(range(experts)) for own in choices)
    loads = expert_loads(choices, experts)
    assert sum(loads) == tokens * top_k
    kept = keep_within_capacity(choices, experts, 5)
    assert dropped_share(loads, 5) == pytest.approx(1 - sum(map(sum, kept)) / (tokens * top_k))


def test_both_ways_to_draw_follow_the_popularity():
    """Few of many by rejection, many of few by a race: first choices are as popular as they should be."""
    for top_k in (1, 2):
        first = expert_loads([[own[0]] for own in random_choices(20000, 6, top_k, 1.0)], 6)
        for load, share in zip(first, popularity(6, 1.0), strict=True):
            assert load / 20000 == pytest.approx(share, abs=0.015)


def test_the_balancing_loss_is_one_when_even():
    assert balance_of([10] * 8, 0.0) == pytest.approx(1)
    assert balance_of([10, 0], 1.0) == pytest.approx(2 * popularity(2, 1.0)[0])


def test_no_assignments_have_no_share():
    assert math.isnan(dropped_share([0, 0], 3))


# Traffic.


def test_the_numbers_of_the_question():
    found = {row["way"]: row["bytes"] for row in expert_traffic()["data"]["values"] if row["ranks"] == 8}
    assert {way: round(size / 1e6, 1) for way, size in found.items()} == {
        "experts, tokens split": 14.7,
        "experts, tokens on each rank": 117.4,
        "tensor parallel": 58.7,
    }


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize(("ranks", "top_k"), [(2, 2), (4, 1), (8, 2), (8, 8), (64, 8)])
def test_the_hottest_rank(ranks, top_k, once):
    """Row by row: the tokens of every rank go out to the others, and their results come back."""
    choices, share = random_choices(200, 64, top_k, 1.2), 64 // ranks
    sent: Counter[int] = Counter()
    for source, own in product(range(ranks), choices):
        visited = [expert // share for expert in own]
        for target in {*visited} if once else visited:
            if target != source:
                sent.update((source, target))
    assert hottest_rank(choices, share, ranks, once) == pytest.approx(max(sent.values()) / len(choices))


def test_a_skew_that_is_next_to_nothing_changes_next_to_nothing():
    """Kills a count of drawn tokens that is not the fair one's."""
    for once in ("one row for each expert", "one row for each rank"):
        fair, skewed = (expert_traffic(once_per_rank=once, top_k=8, skew=skew) for skew in (0.0, 1e-6))
        for one, other in zip(fair["data"]["values"], skewed["data"]["values"], strict=True):
            assert other["bytes"] == pytest.approx(one["bytes"], rel=0.2 if one["ranks"] == 64 else 0.05)


def test_once_per_rank_is_the_chapters_own():
    spec = expert_traffic(top_k=8, once_per_rank="one row for each rank")
    found = next(r["bytes"] for r in spec["data"]["values"] if r["ranks"] == 8 and r["way"].endswith("each rank"))
    assert found == pytest.approx(2 * all_to_all_bytes(4096, 4096, 8, 8, 2, True, 64))


# The advisor.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("model", sorted(MODELS))
def test_the_first_is_the_chosen_one(model):
    job = Job(MODELS[model], 512, 1024, 8192)
    fitting, others = priced(job)
    best = choose_layout(job)
    assert best is not None
    assert fitting[0][0] == pytest.approx(step_time(best, job))
    assert len(fitting) + len(others) == len(candidates(job))


def test_other_meshes_come_close():
    """Page 7.12: of the meshes of the 70B job, the best has ZeRO-3, and four without are within a fifth of it."""
    fitting, _ = priced(Job(MODELS["Llama 3 70B"], 64, 1024, 4096))
    near = [layout for seconds, _, layout in fitting if seconds <= 1.2 * fitting[0][0]]
    fastest = {}
    for layout in near:
        fastest.setdefault((layout.tp, layout.cp, layout.pp, layout.dp), layout)
    assert [layout.zero == 3 for layout in fastest.values()] == [True, False, False, False, False]


def test_a_model_of_one_s_own_is_any_count():
    """Kills a slider that is not read: 8.03 billion parameters are Llama 3 8B, and a published model ignores them."""
    named, typed = layouts(model="Llama 3 8B", gpus=8), layouts(model=OWN, billion_parameters=8.030261248, gpus=8)
    assert named["vconcat"] != typed["vconcat"]  # the title
    said = named["description"].replace("Llama 3 8B on", "8.03026B, 32 layers of 4,096, on")
    assert typed["description"] == said
    assert layouts(model="Llama 3 8B", gpus=8, billion_parameters=900) == named


def test_no_layout_is_a_chart_too():
    spec = layouts(model="Llama 3 405B", gpus=8)
    assert "no layout fits" in spec["description"]
    assert drawn(spec).startswith("<svg")
