"""Results: Gradescope's format, written whole or not at all, with nothing about hidden cases that must not be there."""

from __future__ import annotations

import json
import math

import pytest
import toy_bank as toys

from autograder import report
from autograder.judge import Answered, Grading, refused

ROOT = {"score", "execution_time", "output", "output_format", "test_output_format", "visibility", "stdout_visibility"}
TEST = {"name", "number", "score", "max_score", "status", "visibility", "tags", "extra_data"}


@pytest.fixture
def grading(tmp_path):
    file = tmp_path / "toys.py"
    file.write_text(toys.RIGHT.replace("value * factor", "value + factor"))
    return toys.graded(file)


def test_results_have_gradescopes_fields(grading):
    results = report.results(grading, {"sandbox": "sandbox: none"})
    assert set(results) == ROOT | {"extra_data", "tests"}
    assert isinstance(results["execution_time"], float)
    for test in results["tests"]:
        assert TEST <= set(test) <= TEST | {"output", "output_format"}
        assert test["status"] in ("passed", "failed")
        assert test["visibility"] == "visible"
    assert results["score"] == pytest.approx(sum(test["score"] for test in results["tests"]))
    assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(grading.points)


def test_hidden_checks_are_visible_scores_without_output(grading):
    """Kills: a hidden test, which hides the total, and output of hidden calls."""
    tests = report.results(grading, {})["tests"]
    hidden = [test for test in tests if not test["name"].endswith("public cases")]
    assert hidden
    assert not any("output" in test for test in hidden)


def test_the_slip_is_named_with_the_public_cases(grading):
    test = report.results(grading, {})["tests"][0]
    assert test["name"] == "91-scale: public cases"
    assert test["output"].endswith("Hidden cases:\n- The factor was added.")


def test_numbers_count_items_within_their_chapter(grading):
    tests = report.results(grading, {})["tests"]
    numbers = {test["name"].split(":")[0]: test["number"] for test in tests if test["name"].endswith("public cases")}
    assert numbers == {"91-scale": "91.1", "91-lowest": "91.2", "91-spread": "91.3", "92-tally": "92.1"}
    assert tests[1]["number"] == "91.1.1"


def test_a_right_public_part_is_never_called_all_passed(grading):
    results = json.dumps(report.results(grading, {}))
    assert "Public checks pass." in results
    assert "all passed" not in (results + report.table(grading)).lower()


def test_the_stamps_say_how_it_was_graded(grading):
    extra = report.results(grading, {"sandbox": "sandbox: none", "key_hash": "0" * 16})["extra_data"]
    assert extra["gradable"] is True
    assert extra["sandbox"] == "sandbox: none"
    assert extra["submission_sha256"] == grading.sha256
    assert extra["interpreter"].startswith("cpython 3.")
    assert extra["grader"]


def test_a_refusal_costs_no_attempt():
    results = report.results(refused("a.zip", "the archive is encrypted"), {})
    assert results["extra_data"]["gradable"] is False
    assert results["extra_data"]["reason"] == "the archive is encrypted"
    assert results["output"] == "Not graded: the archive is encrypted."
    assert results["tests"] == []


def test_results_are_written_whole_or_not_at_all(tmp_path):
    """Kills: writing NaN, which is not JSON, and leaving half a file when it is refused."""
    out = tmp_path / "results.json"
    report.write(out, report.unfinished())
    with pytest.raises(ValueError, match="not JSON compliant"):
        report.write(out, {"score": math.nan})
    assert json.loads(out.read_text())["output"] == report.UNFINISHED
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_questions_count_one_point_each(grading):
    from autograder import bank

    question = bank.find("03-steps")
    answered = (Answered(question, "right"), Answered(question, "wrong", ("No.",)))
    both = Grading(grading.name, grading.sha256, grading.marks, answered)
    assert (both.score - grading.score, both.points - grading.points) == (1.0, 2.0)
    tests = report.results(both, {})["tests"][-2:]
    assert [(test["score"], test["status"], test["output"]) for test in tests] == [
        (1.0, "passed", "Right."),
        (0.0, "failed", "No."),
    ]


def test_the_table_has_one_row_for_each_item(grading):
    lines = report.table(grading, "sandbox: none").splitlines()
    assert lines[0].startswith("91-scale")
    assert " ".join(lines[1].split()) == "91-lowest 4 / 4 2 of 2 public cases, 1 of 1 hidden groups"
    assert "  hidden: The factor was added." in lines
    assert lines[-1] == "8 of 12 points, and 4 for optional items"
