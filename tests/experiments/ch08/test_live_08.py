"""The live runs of chapter 8: the real server, engine and client. What they count is checked, what they time is not."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import statistics

import nbformat
import pytest
import torch

from experiments.ch08 import serving_runs
from experiments.ch08.load_runs import load_at
from rankzero.server import Parts, serve
from rankzero.sim import batching
from rankzero.tiny import ByteTokenizer
from solutions.ch08 import tiny_serving
from solutions.ch08.serving import continuous_batching, replicas_needed, static_batching, workload
from tools.common import BOOK


@pytest.fixture(scope="module")
def server():
    with serve(serving_runs.served_model(steps=2), ByteTokenizer(), serving_runs.parts(), slots=8) as running:
        yield running


# Parts.


def test_the_parts_come_from_one_package():
    own, labs = serving_runs.parts(), serving_runs.parts("labs")
    assert isinstance(own, Parts)
    assert own.detokenizer.__module__ == "solutions.ch08.detokenizer"
    assert labs.probabilities.__module__ == "labs.ch08.tiny_serving"


def test_the_cache_on_the_page_is_the_one_of_the_module():
    """The page shows it without types, in no more statements."""
    cells = {
        cell["id"]: cell.source for cell in nbformat.read(BOOK / "deeper/08-server-deeper.ipynb", as_version=4).cells
    }
    page: dict = {"torch": torch}
    exec(cells["growing-cache"], page)
    keys = torch.arange(24.0).reshape(1, 2, 3, 4)
    for cache in (page["GrowingCache"](), tiny_serving.GrowingCache()):
        cache.append(0, keys[:, :, :2], keys[:, :, :2])
        for held in cache.append(0, keys[:, :, 2:], keys[:, :, 2:]):
            assert torch.equal(held, keys)
    texts = (cells["growing-cache"], inspect.getsource(tiny_serving.GrowingCache))
    shown, module = ([node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)] for text in texts)
    assert len(shown) <= len(module)


# The engine against the simulator.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("lengths", [[3, 1, 2, 5, 4], [1] * 6 + [3], [4], workload(20, median=6, longest=40)])
@pytest.mark.parametrize("slots", [1, 3])
def test_functions_simulator_and_engine_agree(lengths, slots):
    """The same start and finish step for every request, in all three."""
    for name, function in (("static", static_batching), ("continuous", continuous_batching)):
        simulated = batching.POLICIES[name](lengths, slots)
        real = serving_runs.engine_run(lengths, slots, name)
        assert list(real.spans) == list(simulated.spans) == function(lengths, slots)
        assert real.idle_share == simulated.idle_share
        assert (real.lengths, real.slots) == (tuple(lengths), slots)


def test_a_slot_holds_one_request_at_a_time():
    real = serving_runs.engine_run(workload(12, median=5, longest=20), 3)
    for slot in range(3):
        spans = sorted(span for span, place in zip(real.spans, real.places, strict=True) if place == slot)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


# Load.


def test_time_explodes_and_throughput_does_not():
    low, high = load_at(0.3, requests=4000), load_at(0.95, requests=4000)
    assert high.time > 2 * low.time
    assert low.throughput == pytest.approx(0.3 * 8, rel=0.05)
    assert replicas_needed(low.rate, low.time, 0, 1, 8) == math.ceil(low.rate * low.time / 8)


@pytest.mark.proof(part="runs")
def test_forty_requests_are_answered(server):
    answers = serving_runs.loaded(server, requests=8, rate=200.0)
    assert all(answer.whole for answer in answers)
    assert [answer.tokens for answer in answers] != [answers[0].tokens] * 8  # of unequal lengths


@pytest.mark.proof(part="runs")
def test_eight_at_once_say_what_each_says_alone(server):
    ask = serving_runs.asker(server, max_tokens=12)
    prompts = [f"Chapter {number}. " for number in range(8)]
    alone, _ = serving_runs.one_by_one(ask, prompts)
    among_others, _ = serving_runs.together(ask, prompts)
    assert among_others == alone


@pytest.mark.proof(part="runs")
def test_who_leaves_frees_a_slot(server):
    before = serving_runs.metrics_seen(server)
    seen = serving_runs.left_midstream(server, tokens=150)
    assert [seen[when]["running"] for when in ("before", "after", "end")] == [3, 2, 0]
    assert seen["end"]["finished_abort"] == before["finished_abort"] + 1
    assert seen["end"]["finished_length"] + seen["end"]["finished_stop"] == (
        before["finished_length"] + before["finished_stop"] + 2
    )


# Measuring.


def test_the_median_leaves_the_first_run_out(monkeypatch):
    ticks = iter([0, 100, 100, 101, 101, 105, 105, 107])
    monkeypatch.setattr(serving_runs.time, "perf_counter", lambda: float(next(ticks)))
    assert serving_runs.median_seconds(lambda: None, repeats=3) == statistics.median([1, 4, 2])


def test_passes_take_time():
    model = serving_runs.timed_model(96)
    assert serving_runs.prefill_seconds(64, model, 1) > 0
    assert serving_runs.decode_seconds(3, 64, model, 1) > 0


# Sampling and text.


def test_draws_follow_the_distribution():
    chances = torch.tensor([0.5, 0.3, 0.2, 0.0], dtype=torch.float64)
    counts = serving_runs.drawn_counts(chances)
    statistic, freedom = serving_runs.chi_square(counts, chances.tolist())
    assert sum(counts) == 20_000
    assert freedom == 2
    assert statistic < 15
    wrong, _ = serving_runs.chi_square(counts, [0.45, 0.35, 0.2, 0.0])
    assert wrong > 100
    assert serving_runs.chi_square([1, 1], [1.0, 0.0])[0] == math.inf
    assert serving_runs.chi_square([60, 40], [0.5, 0.5]) == (pytest.approx(4.0), 1)


def test_an_emoji_is_split():
    tokenizer = serving_runs.emoji_tokenizer()
    tokens = tokenizer.encode("\U0001f600")
    assert len(tokens) == 2
    assert tokenizer.decode(tokens) == "\U0001f600"
    assert "\ufffd" in serving_runs.naive_text(tokenizer.vocabulary, tokens)
