"""The worked examples of chapter 7: each number that a text computes by hand is computed here."""

from __future__ import annotations

import pytest

from experiments.ch07 import routing_steps
from experiments.ch07.published import GPIPE_SPEEDUPS
from experiments.ch07.published import LLAMA3_405B as LLAMA3_405B_RUNS
from rankzero.facts.models import LLAMA3_405B
from rankzero.facts.units import GB, MB, ms
from solutions.ch01.ranks import coordinates, process_groups
from solutions.ch05.zero import zero_memory
from solutions.ch07.experts import expert_capacity, keep_within_capacity, moe_parameters
from solutions.ch07.pipeline import bubble_fraction, bubble_overhead, peak_in_flight, pipeline_bytes_sent
from solutions.ch07.pipeline_charts import pipeline_chart
from tests.worked_examples import examples, missing, texts

NAIVE = pipeline_chart("1f1b", 3, 1)
GPIPE = pipeline_chart("gpipe", 3, 4, backward=1.0)
ONE = pipeline_chart("1f1b", 3, 4, backward=1.0)
SMALL = pipeline_chart("1f1b", 2, 3)
CUTS = {1: pipeline_chart("1f1b", 4, 4), 2: pipeline_chart("interleaved", 4, 4, 2)}
CHOSEN = [routing_steps.chosen(token) for token in range(6)]
ROWS = [[CHOSEN[2 * r : 2 * r + 2].count(e) for e in range(3)] for r in range(3)]
WANTED = [CHOSEN.count(expert) for expert in range(3)]
MESH = {"dp": 2, "pp": 2, "tp": 2}
ACTIVATION = 2 * 8192 * LLAMA3_405B.hidden
PART = zero_memory(70e9 / 16, 0, 1, optimizer_bytes=0) / GB
OPTIMIZER = 12 * 70e9 / 16 / GB
BATCH = pipeline_chart("1f1b", 3, 1, forward=0.04, backward=0.08, hop=0.005).times
LONG = {name: pipeline_chart(name, 4, 16) for name in ("gpipe", "1f1b")}
DEEP = pipeline_chart("interleaved", 4, 8, 2)
HALVES = pipeline_chart("zb-h1", 4, 8)
TOKEN_1 = sorted(routing_steps.PERCENT[1], reverse=True)[:2]
LAYER, LARGE = (moe_parameters(1, 1, experts, 1, 1, 2 * 3) for experts in (3, 30))


def group(axis: str, rank: int) -> list[int]:
    return next(ranks for ranks in process_groups(MESH, axis) if rank in ranks)


def warm_up(chart) -> int:
    """Forwards of rank 0 before its first backward, without the one of the steady state."""
    return next(place for place, op in enumerate(chart.orders[0]) if "B" in op) - 1


COMPUTED = {
    "naive-example": [
        f"Rank 1 starts at time {NAIVE.times['1F0'][0]:g} and rank 2 at time {NAIVE.times['2F0'][0]:g}. At"
        f" {NAIVE.times['2F0'][1]:g} the loss is known",
        f"on rank 2 until {NAIVE.times['2B0'][1]:g}, on rank 1 until {NAIVE.times['1B0'][1]:g}, and on rank 0 until"
        f" {NAIVE.times['0B0'][1]:g}",
        f"works for {NAIVE.makespan - NAIVE.idle[0]:g} of the {NAIVE.makespan:g} units and waits for {NAIVE.idle[0]:g}",
    ],
    "gpipe-example": [
        f"its four forwards until time {GPIPE.times['0F3'][1]:g}",
        f"gets its first activation at {GPIPE.times['2F0'][0]:g} and finishes its forwards at"
        f" {GPIPE.times['2F3'][1]:g}",
        f"reaches rank 0 at {GPIPE.times['0B0'][0]:g}, and the step ends at {GPIPE.makespan:g}",
        f"works for {GPIPE.makespan - GPIPE.idle[0]:g} and idles for {GPIPE.idle[0]:g}",
    ],
    "fraction-example": [
        f"Idle over total is 3/11, or {100 * bubble_fraction(4, 8):.0f} percent",
        f"Idle over useful is 3/8, or {100 * bubble_overhead(4, 8):g} percent",
    ],
    "one-f-one-b-example": [
        f"the loss of micro-batch 0 at {ONE.times['2B0'][0]:g}",
        f"never holds {('one', 'two', 'three')[peak_in_flight(ONE.orders[2])]} micro-batches",
        f"Rank 1 has run {peak_in_flight(ONE.orders[1])} forwards when its first gradient arrives,"
        f" and rank 0 has run {peak_in_flight(ONE.orders[0])}",
        f"at most {ONE.peaks[0]:g} micro-batches where GPipe held {GPIPE.peaks[0]:g}",
        f"would still hold {pipeline_chart('1f1b', 3, 64).peaks[0]:g}",
        f"still ends at {ONE.makespan:g}, and rank 0 still idles for {ONE.idle[0]:g} units",
    ],
    "real-example": ["6 messages for 3 micro-batches", "3 activations and 3 gradients"],
    "bytes-example": [
        f"so {2 * 3 * 8} messages",
        f"{ACTIVATION / MB:.0f} MB",
        f"{LLAMA3_405B.hidden:,} numbers",
    ],
    "interleaved-example": [
        f"{CUTS[1].idle[0]:g} of {CUTS[1].makespan:g} units",
        f"idles for {CUTS[2].idle[0]:g} of {CUTS[2].makespan:g} units",
    ],
    "mixture-example": [
        "Token 3 has {}, {} and {} percent".format(*routing_steps.PERCENT[3]),
        f"multiplied by {routing_steps.PERCENT[3][1] / 100:g}",
        f"E2 ({TOKEN_1[0]} percent) and E1 ({TOKEN_1[1]})",
        f"get weights of {TOKEN_1[0] / sum(TOKEN_1):g} and {TOKEN_1[1] / sum(TOKEN_1):g}",
    ],
    "capacity-example": [
        f"the even share is {expert_capacity(6, 3, 1)}",
        f"gives every expert {expert_capacity(6, 3, 1, 1.5)} places: nothing is dropped, and"
        f" {3 * expert_capacity(6, 3, 1, 1.5) - sum(WANTED)} of {3 * expert_capacity(6, 3, 1, 1.5)} places",
    ],
    "expert-example": [
        f"which chose E{CHOSEN[0]} and E{CHOSEN[1]}",
        f"The column of rank 0 adds up to {sum(row[0] for row in ROWS)}",
    ],
    "mesh-example": [
        "replica {dp}, stage {pp}, place {tp}".format(**coordinates(5, MESH)),
        "its TP group (ranks {} and {}, neighbors".format(*group("tp", 5)),
        "hold the same shard, here {} and {},".format(*group("dp", 5)),
    ],
    "layout-example": [
        f"take {16 * 70:,} GB",
        f"{PART:g} GB of weights and gradients, and {OPTIMIZER:g} GB of optimizer state",
        f"leaves {PART + OPTIMIZER / 4:.1f} GB",
        f"(with {1024 // 4} micro-batches, {4 - 1} of {1024 // 4 + 4 - 1})",
    ],
    "milestone-example": [
        f"/4 = {(3 * 2 + 1 * 6) / 4:g}$",
        f"adds up {3 / 4 * 2:g} and {1 / 4 * 6:g}",
        f"would give {2 + 6}, and averaging them {(2 + 6) / 2:g}",
    ],
}
DEEPER = {
    "played-example": [
        f"at {BATCH['1F0'][0] / ms:g} ms, and rank 2 at {BATCH['2F0'][0] / ms:g} ms",
        f"known at {BATCH['2F0'][1] / ms:g} ms",
    ],
    "schedules-example": [
        f"with {warm_up(LONG['gpipe']) + 1} forwards under GPipe, and with {warm_up(LONG['1f1b'])} under 1F1B",
        f"= {LONG['gpipe'].makespan:g}",
    ],
    "interleaved-example": [
        f"{warm_up(DEEP)} in all",
        f"{peak_in_flight(DEEP.orders[0])} chunks of half a stage are held, {DEEP.peaks[0]:g} stages' worth",
    ],
    "halves-example": [
        f"or {(8 + 3) * 3} units",
        f"Here it ends at {HALVES.makespan:g}",
    ],
    "boundaries-example": [
        f"{sum(pipeline_bytes_sent(rank, 2, 5, 10 * MB, 2) for rank in range(2)) / MB:g} MB in all",
        f"rank 0 sends {pipeline_bytes_sent(0, 2, 1, 1, 2):g} messages",
    ],
    "mixtures-example": [
        f"the layer has {LAYER[0] // 3} parts, and a token that visits one expert uses {LAYER[1] // 3}",
        f"it has {LARGE[0] // 3} parts, and a token still uses {LARGE[1] // 3}",
    ],
    "capacity-example": [],
    "exchange-example": [
        f"has {2 * 128} rows",
        f"{2 * 128 // 4} of them stay, and {2 * 128 * 3 // 4} leave",
        f"about {2 * 128 * 3 // 4 * 32 * 8 / 1000:.0f} kB leave",
    ],
    "groups-example": [f"16 / 4 = {16 // 4} pipelines, 16 / 2 = {16 // 2} tensor-parallel"],
    "advisor-example": [
        f"take {zero_memory(8e9, 0, 1) / GB:g} GB",
        f"a quarter on each GPU, {zero_memory(2e9, 0, 1) / GB:g} GB",
        f"and {zero_memory(2e9, 1, 4) / GB:g} GB remain",
    ],
}

PATH, BELOW = examples("07-pipeline-expert"), examples("deeper/07-pipeline-expert-deeper")


@pytest.mark.parametrize("name", COMPUTED)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(PATH[name], COMPUTED[name]) == []


@pytest.mark.parametrize("name", DEEPER)
def test_the_numbers_of_an_example_that_lies_deeper(name):
    assert missing(BELOW[name], DEEPER[name]) == []


def test_every_example_is_computed():
    """The designs have a test of their own."""
    assert {name for name in PATH.keys() - COMPUTED.keys() if not name.startswith("design")} == set()
    assert {name for name in BELOW.keys() - DEEPER.keys() if not name.startswith("design")} == set()


def test_the_messages_of_the_smallest_pipeline():
    """Rank 0 runs one forward before rank 1 begins, and they take turns: as the example tells it."""
    assert SMALL.orders[0] == ["0F0", "0F1", "0B0", "0F2", "0B1", "0B2"]
    assert SMALL.orders[1] == ["1F0", "1B0", "1F1", "1B1", "1F2", "1B2"]


def test_who_sends_which_row():
    assert ROWS == [[1, 0, 1], [1, 1, 0], [1, 0, 1]]
    assert WANTED == [3, 1, 2]


def test_four_tokens_and_their_second_choices():
    """Three tokens prefer E0, the fourth E1: the third and the fourth lose their second choice."""
    kept = keep_within_capacity([[0, 1], [0, 1], [0, 1], [1, 0]], 2, 3)
    assert kept == [[True, True], [True, True], [True, False], [True, False]]


def test_the_numbers_of_the_texts_between():
    """Kills a number that is typed and wrong outside of the worked examples."""
    cells = texts("07-pipeline-expert")
    busy = 1 - bubble_fraction(16, 16)
    inside, boundary = 8 * 4 * 2 * 7 / 8 * ACTIVATION / 450, 2 * ACTIVATION / 50
    assert busy == 16 / 31
    assert f"run at {100 * LLAMA3_405B_RUNS[1][2] / busy:.0f} percent" in cells["interleaved"]
    assert (450 / 50, round(inside / boundary)) == (9, 3)
    assert (
        "links nine times slower, a boundary's messages take a third of the all-reduces' time" in cells["bytes-close"]
    )
    assert f"8 stages are only {GPIPE_SPEEDUPS[8, 1]:g} times as fast as 2," in cells["gpipe-close"]
    saved = (8 + 3) * 3 - HALVES.makespan
    assert f"saves {saved:g} of {(8 + 3) * 3} units" in cells["llama-close"]
    held = {v: pipeline_chart("interleaved", 4, 12, v).peaks[0] for v in (2, 4)}
    assert held == {v: 4 + (4 - 1) / v for v in held}
    assert "With two chunks, it holds more activations than with four" in cells["interleaved-close"]
