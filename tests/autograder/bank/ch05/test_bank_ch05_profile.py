"""Chapter 5's questions about traces: their answers by other means, and what their options say of the stored files."""

from __future__ import annotations

import statistics

import pytest

from autograder import bank
from autograder.bank.ch05 import section_18
from autograder.maintenance import verifying
from experiments.ch05.profile_runs import small_model
from rankzero.facts import measured_traces as traces
from rankzero.facts.units import MiB

#: Microseconds, the width of a cell when time is counted in cells.
CELL = 1e-6


def of_step(run: traces.Run, kind: traces.Kind, rank: int = 0) -> list[list[traces.Span]]:
    """The spans of a kind, step by step."""
    spans = traces.read(run)
    return [traces.select(spans, kind, rank=rank, within=step) for step in traces.steps(spans, rank)]


def cells(spans) -> set[int]:
    """The microseconds at which a span goes on."""
    return {cell for span in spans for cell in range(round(span.start / CELL), round(span.end / CELL))}


@pytest.mark.parametrize("item", section_18.QUESTIONS, ids=lambda item: item.id)
def test_the_bank_verifies_them(item):
    assert verifying.question(item) == []
    assert item.bonus


def test_the_first_all_reduce_carries_what_the_option_says():
    sizes = [parameter.nbytes / MiB for parameter in small_model().parameters()]
    assert bank.find("05-profile-first").options[0].endswith(f"{sizes[-1] + sizes[-2]:g} MiB")
    assert bank.find("05-profile-first").options[1].endswith(f"{sizes[0]:g} MiB")
    assert bank.find("05-profile-first").options[2].endswith(f"{sizes[-1]:g} MiB")
    assert bank.find("05-profile-first").options[3].endswith(f"{sum(sizes):g} MiB")
    for step in of_step("buckets", "all_reduce"):
        assert step[0].nbytes / MiB == sizes[-1] + sizes[-2]
        assert sorted(span.nbytes / MiB for span in step) == [4.0] * 7 + [4.5]


def test_the_gap_ends_with_the_last_all_reduce():
    """In the second step the last bucket is sent when the backward pass ends, and its copy is all that follows."""
    kinds: tuple[traces.Kind, ...] = ("backward", "all_reduce", "copy", "optimizer")
    nodes, sent, copies, (update,) = (of_step("buckets", kind)[1] for kind in kinds)
    computed, last = max(span.end for span in nodes), max(sent, key=lambda span: span.start)
    gap = update.start - computed
    assert last.nbytes == 4 * MiB
    assert last.start > computed
    assert all(span.end < computed for span in sent if span is not last)
    assert last.seconds > 0.75 * gap
    assert update.start - last.end < 0.05 * gap
    assert statistics.median(span.seconds for span in copies) == pytest.approx(0.5e-3, rel=0.3)
    assert max(span.start for span in copies) >= last.end - 1e-4


def test_one_copy_of_the_first_step_was_interrupted():
    """What the page says of the gap that no all-reduce explains."""
    times = [span.seconds for span in of_step("buckets", "copy")[0]]
    assert max(times) == times[-1] > 20 * statistics.median(times)


def test_the_hidden_share_by_counting_microseconds():
    spans = traces.read("buckets")
    sent = cells(traces.select(spans, "all_reduce", rank=0))
    computing = cells(traces.select(spans, *traces.COMPUTING, rank=0))
    share, exposed = (part.answer() for part in bank.find("05-profile-hidden").parts)
    assert share == pytest.approx(100 * len(sent & computing) / len(sent), rel=1e-3)
    assert exposed == pytest.approx(len(sent - computing) * CELL * 1e3 / len(traces.steps(spans, 0)), rel=1e-2)
    assert share > 50


def test_one_bucket_waits_for_everything():
    """By its own measure: from the last gradient to the end of the last all-reduce."""
    found = {}
    for run in ("buckets", "one_bucket"):
        computed, sent = (
            [max(span.end for span in step) for step in of_step(run, kind)] for kind in ("backward", "all_reduce")
        )
        found[run] = statistics.median(end - start for start, end in zip(computed, sent, strict=True))
    assert bank.find("05-profile-one-bucket").answer() == pytest.approx(found["one_bucket"] / found["buckets"], rel=0.2)
    assert 4 < bank.find("05-profile-one-bucket").answer() < 17
    for step, nodes in zip(of_step("one_bucket", "all_reduce"), of_step("one_bucket", "backward"), strict=True):
        (only,) = step
        assert only.nbytes == 32.5 * MiB
        assert only.start > max(span.start for span in nodes)


def test_the_slow_rank_has_the_short_all_reduces():
    """The same bytes; rank 0's bars are several times as long as rank 1's, which computes longer."""
    spans = traces.read("slow_rank")
    sent = [traces.select(spans, "all_reduce", rank=rank) for rank in (0, 1)]
    assert sorted(s.nbytes for s in sent[0]) == sorted(s.nbytes for s in sent[1])
    seconds = [sum(span.seconds for span in ours) for ours in sent]
    computing = [traces.total(traces.select(spans, "forward", "backward", rank=rank)) for rank in (0, 1)]
    assert seconds[0] > 3 * seconds[1]
    assert computing[1] > 1.3 * computing[0]
    rows = traces.stored("slow_rank")["otherData"]["rows"]
    assert rows[1] == 2 * rows[0]
