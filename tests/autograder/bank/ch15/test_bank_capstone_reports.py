"""The capstone: what the report says of wrong programs, and what the references refuse."""

from __future__ import annotations

import itertools

import pytest

from autograder import bank
from autograder.conclusions import cap as concluded
from autograder.items import Build
from autograder.probes import cap
from rankzero.facts.models import LLAMA3_8B
from solutions.ch15.failing_runs import simulate_run
from solutions.ch15.run_plan import memory_per_stage
from tests.autograder import handed_in

GUARD = "if isinstance(time, bool) or not (math.isfinite(time) and time > 0):"


def item(identifier: str) -> Build:
    found = bank.find(identifier)
    assert isinstance(found, Build)
    return found


INTERVAL = item("cap-optimal-checkpoint-interval")
RUN = item("cap-simulate-run")


@pytest.mark.parametrize(
    ("guard", "rule"),
    [
        ("if False:", "checkpoint_time"),
        ("if not time > 0:", "finite"),
        ("if not (math.isfinite(time) and time > 0):", "finite and positive"),
        ("if isinstance(time, bool) or not math.isfinite(time):", "finite and positive"),
    ],
)
def test_a_wrong_guard_alone_is_no_wrong_formula(guard, rule):
    mark = handed_in.edited(INTERVAL, (GUARD, guard))
    assert mark.state == "partly"
    assert mark.slip == ""
    assert all(sentence.startswith("Bad input must raise ValueError") for sentence in mark.hidden)
    assert rule in mark.hidden[0]


def test_a_method_that_is_not_checked_is_no_wrong_formula():
    unchecked = "if method not in formulas and (method := 'daly') is None:"
    mark = handed_in.edited(INTERVAL, ("if method not in formulas:", unchecked))
    assert mark.slip == ""
    assert all("Young" not in sentence and "Daly" not in sentence for sentence in mark.hidden)


def test_the_first_term_of_the_series_is_named_for_what_it_is():
    mark = handed_in.edited(INTERVAL, ("(1 + math.sqrt(x) / 3 + x / 9)", "1"))
    assert "after its first term" in mark.slip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if not 0 < value < math.inf:", "if not 0 < value:"),
        ("if not 0 <= value < math.inf:", "if not value >= 0:"),
        ("if not 0 < value < math.inf:", "if False:"),
        ("if not gap > 0:", "if gap < 0:"),
    ],
)
def test_a_run_with_a_wrong_guard_alone_is_no_wrong_run(old, new):
    mark = handed_in.edited(RUN, (old, new))
    assert mark.state == "partly"
    assert mark.slip == ""
    assert all(sentence.startswith("Bad input must raise ValueError") for sentence in mark.hidden)


def test_gaps_that_are_all_read_first_are_noticed():
    mark = handed_in.edited(RUN, ("gaps = iter(failure_gaps)", "gaps = iter(list(failure_gaps))"))
    assert mark.state == "partly"
    assert any("Take a gap when it is needed" in sentence for sentence in mark.hidden)


def test_gaps_that_never_end():
    run = simulate_run(100.0, 30.0, 5.0, 10.0, itertools.repeat(60.0))
    assert run["useful"] == 100.0
    answer = cap.failing(simulate_run, 100.0, 30.0, 5.0, 10.0, itertools.repeat(60.0))
    assert concluded.failing(RUN.cases[0], answer)["gaps were taken"] == "when needed"


def test_a_quotient_that_is_rounded_up_is_noticed():
    mark = handed_in.edited(RUN, ("math.ceil(work / interval - 1e-9)", "math.ceil(work / interval)"))
    assert mark.state == "partly"
    assert any("1e-9" in sentence for sentence in mark.hidden)


def test_there_is_one_segment_at_least():
    assert simulate_run(3600.0, 1e13, 5.0, 10.0, []) == {
        "wall": 3605.0,
        "useful": 3600.0,
        "checkpoint": 5.0,
        "lost": 0.0,
        "restart": 0.0,
        "failures": 0,
    }
    mark = handed_in.edited(RUN, ("max(1, math.ceil(work / interval - 1e-9))", "math.ceil(work / interval - 1e-9)"))
    assert mark.state == "partly"
    assert any("at least one" in sentence for sentence in mark.hidden)


@pytest.mark.parametrize("partition", [[16.0, 16], [True, 31], [33, -1], []])
def test_a_partition_of_what_is_no_count_is_refused(partition):
    with pytest.raises(ValueError, match="partition must"):
        memory_per_stage(LLAMA3_8B, partition, 1, 1, 1, 1, 4096)
