"""Chapter 14, live: memory that comes and goes by phase, the tiny iteration, and responses found again from a run."""

from __future__ import annotations

import gc
import itertools
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch13.rlhf_steps import Settings
from experiments.ch14 import memory_runs, phase_runs
from solutions.ch14.rlhf_profile import DISCARDABLE, OFFLOADS, WHEN, WHERE, response_spans, sketch
from solutions.ch14.rlhf_schedule import memory_timeline, simulate_async


@pytest.fixture(scope="module")
def small():
    """A job of a few hundred kilobytes."""
    patch = pytest.MonkeyPatch()
    patch.setattr(memory_runs, "CONFIG", memory_runs.GPTConfig(vocab=32, layers=2, heads=2, head_dim=8, context=16))
    yield
    patch.undo()


@pytest.mark.parametrize("offload", OFFLOADS[1:])
@pytest.mark.usefixtures("small")
def test_ledger_and_living_tensors_agree(offload):
    """In every phase, to the byte; and what is copied is what the timeline says, from the second iteration on."""
    with memory_runs.MemoryJob(offload=offload) as job:
        samples = job.run(2)
        sizes = job.sizes() | {"activations": samples[2].ledger["activations"]}
        uses = memory_timeline(job.phases, sizes, DISCARDABLE)
    assert samples[2].ledger["activations"] > 0
    for sample, use in zip(samples[3:], uses, strict=True):
        assert sample.phase == use.name
        assert sum(sample.ledger.values()) == sample.live == use.resident
        # A rollout copy is made from the actor's weights: where these have left, they are read for it.
        read = sizes["actor_weights"] if sample.phase == "generate" and "actor_weights" not in sample.ledger else 0
        assert (sample.loaded, sample.evicted) == (use.loaded + read, use.evicted)


@pytest.mark.proof(part="runs")
@pytest.mark.usefixtures("small")
def test_training_moves_the_weights_and_leaving_frees_them():
    gc.unfreeze()  # what another test froze would be counted as the job's
    before = memory_runs.live_storages()
    with memory_runs.MemoryJob() as job:
        job._enter(dict(job.phases)["train"])
        first = job.held["actor_weights"][0].clone()
        job._train()
        assert not torch.equal(job.held["actor_weights"][0], first)
        del first
        folder = job._folder.name
    after = memory_runs.live_storages()
    assert sum(after[place] for place in set(after) - set(before)) < 10_000  # the tokens, and the job's own bits
    assert not memory_runs.Path(folder).exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells")
def test_the_system_sees_large_tensors_come_and_go():
    before = memory_runs.resident_bytes()
    large = torch.ones(16 * 2**20)
    during = memory_runs.resident_bytes()
    del large
    after = memory_runs.resident_bytes()
    assert during - before > 48 * 2**20
    assert during - after > 48 * 2**20


def test_a_profile_has_its_phases():
    found = phase_runs.profile(Settings(responses=4, length=2, epochs=1, minibatches=1), repeats=1)
    assert list(found) == ["generate", "score", "train"]
    assert min(found.values()) > 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=30),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(0, 8),
    st.integers(0, 3),
)
def test_spans_are_those_of_the_run(lengths, slots, batch, train, bound):
    """Their sum is the run's; sorted by their ends they make the batches, and their versions its staleness."""
    run = simulate_async(lengths, slots, batch, 0.5, train / 2, 0.25, bound)
    spans = response_spans(lengths, slots, batch, 0.5, bound, run.steps)
    assert sum(max(0, min(one.end, run.total) - one.start) for one in spans) == run.busy
    assert all(one.slot in range(slots) for one in spans)
    order = sorted(range(len(spans)), key=lambda index: (spans[index].end, index))
    ages = [[number - spans[i].version for i in order[number * batch :][:batch]] for number in range(len(run.steps))]
    assert [tuple(row) for row in ages] == [step[2] for step in run.steps]
    for slot in range(slots):
        mine = sorted((one.start, one.end) for one in spans if one.slot == slot)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(mine))


def test_sketches():
    ends = {}
    for where in WHERE:
        for when in WHEN:
            rows = sketch(where, when)
            assert (rows is None) == (when == "asynchronous" and where != "disaggregated")
            if rows is not None:
                ends[where, when] = max(end for row in rows.values() for _, _, end in row)
    assert ends["colocated", "synchronous"] == 3 * (3 + 2)
    assert ends["hybrid", "synchronous"] == 3 * (3 + 2 + 0.5)
    assert ends["disaggregated", "synchronous"] == 3 * (6 + 4 + 0.5)
    assert ends["disaggregated", "asynchronous"] == 3 * 6 + 4 + 0.5
