"""Results: Gradescope's format, written whole or not at all, with nothing about hidden cases that must not be there."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest
import toy_bank as toys

from autograder import bank
from autograder.marking import concepts, report
from autograder.marking.marks import Answered, Grading, Mark, Share, refused

ROOT = {"score", "execution_time", "output", "output_format", "test_output_format", "visibility", "stdout_visibility"}
TEST = {"name", "number", "score", "max_score", "status", "visibility", "tags", "extra_data"}

# What https://gradescope-autograders.readthedocs.io/en/latest/specs/ allows, field by field: types, or allowed values.
NUMBER = (int, float)
FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
IN_ROOT = {
    "score": NUMBER,
    "execution_time": NUMBER,
    "output": str,
    "output_format": FORMATS,
    "test_output_format": FORMATS,
    "test_name_format": FORMATS,
    "visibility": VISIBILITY,
    "stdout_visibility": VISIBILITY,
    "extra_data": dict,
    "tests": list,
    "leaderboard": list,
}
IN_TEST = {
    "score": NUMBER,
    "max_score": NUMBER,
    "status": {"passed", "failed"},
    "name": str,
    "name_format": FORMATS,
    "number": str,
    "output": str,
    "output_format": FORMATS,
    "tags": list,
    "visibility": VISIBILITY,
    "extra_data": dict,
}


def faults(content: dict[str, Any], allowed: dict[str, Any]) -> list[str]:
    """The fields that Gradescope does not know, or whose value is not one that it allows."""
    found = []
    for name, value in content.items():
        rule = allowed.get(name, ())
        fits = value in rule if isinstance(rule, set) else isinstance(value, rule) and not isinstance(value, bool)
        found += [] if fits else [f"{name}: {value!r}"]
    return found


def invalid(results: dict[str, Any]) -> list[str]:
    """Everything in a document that Gradescope's format does not allow."""
    found = faults(results, IN_ROOT)
    for test in results.get("tests", ()):
        found += faults(test, IN_TEST) + [f"tag: {tag!r}" for tag in test.get("tags", ()) if not isinstance(tag, str)]
        numbered = re.fullmatch(r"\d+(\.\d+)*", str(test.get("number", "")))
        found += [] if numbered else [f"number of {test['name']}"]
    if "score" not in results and not all("score" in test for test in results.get("tests", ())):
        found.append("no score, neither in all or in each test")
    return found


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


@pytest.mark.parametrize("kind", ["graded", "refused", "unfinished", "questions", "unjudged"])
def test_the_whole_document_is_gradescopes(grading, kind):
    """Kills: a field, a type or a word that Gradescope does not know; read back as it is written."""
    asked = tuple(
        Answered(bank.find(name), state) for name, state in (("03-steps", "right"), ("cap-params", "missing"))
    )
    unjudged = Mark(toys.SCALE, "unjudged", (Share("public cases", 0, 0, 0.0, 1.0),), ("91-scale cannot be judged",))
    results = {
        "graded": lambda: report.results(grading, {"sandbox": "sandbox: none"}),
        "refused": lambda: report.results(refused("a.zip", "the archive is encrypted"), {}),
        "unfinished": report.unfinished,
        "questions": lambda: report.results(Grading("a", "b", grading.marks, asked), {}),
        "unjudged": lambda: report.results(Grading("a", "b", (unjudged,), reason="91-scale cannot be judged"), {}),
    }[kind]()
    assert invalid(json.loads(json.dumps(results, allow_nan=False))) == []
    assert "leaderboard" not in results


@pytest.mark.parametrize(
    "wrong",
    [
        {"score": True},
        {"visibility": "everyone"},
        {"output": None},
        {"marks": 3},
        {"tests": [{"status": "right", "name": "n", "number": "1"}]},
        {"tests": [{"number": 1, "name": "n"}]},
    ],
)
def test_the_schema_bites(wrong):
    assert invalid({"score": 1.0, **wrong}) != []


def test_a_learner_reads_how_the_concepts_stand_and_what_comes_next(grading):
    lines = report.results(grading, {})["output"].splitlines()
    assert lines[:3] == [
        "8 of 12 points, and 4 for optional items.",
        "Concepts: 3 right, 1 not yet.",
        "Next: scaling. Read section 91.1.",
    ]


def test_a_test_says_where_to_read_unless_it_is_right(grading):
    stamps = {"book": "https://example.edu/book"}
    marks = (Mark(bank.find("03-ring-all-gather"), "wrong", grading.marks[0].shares, (), ("A hint.",)), *grading.marks)
    tests = report.results(Grading("a", "b", marks), stamps)["tests"]
    address = "https://example.edu/book/03-collectives.html#ring-all-gather-then-all-reduce"
    assert tests[0]["output"].endswith(f"\nRead section 3.7, Ring all-gather, then all-reduce: {address}")
    right = next(test for test in tests if test["name"] == "91-lowest: public cases")
    assert right["output"] == "Public checks pass."


def test_hidden_checks_are_visible_scores_without_output(grading):
    """Kills: a hidden test, which hides the total, and output of hidden calls."""
    tests = report.results(grading, {})["tests"]
    hidden = [test for test in tests if not test["name"].endswith("public cases")]
    assert hidden
    assert not any("output" in test for test in hidden)


def test_the_slip_is_named_with_the_public_cases(grading):
    test = report.results(grading, {})["tests"][0]
    assert test["name"] == "91-scale: public cases"
    assert "\nHidden cases:\n- The factor was added.\n" in test["output"]


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


def test_the_time_is_told_in_tens_of_seconds(grading):
    """Kills: a time to the millisecond, by which a program that sleeps could tell an input."""
    times = {seconds: report.results(replace(grading, seconds=seconds), {}) for seconds in (0.2, 3.14159, 9.99, 10.01)}
    assert {results["execution_time"] for results in times.values()} == {10.0, 20.0}


def test_a_refusal_costs_no_attempt():
    results = report.results(refused("a.zip", "the archive is encrypted"), {})
    assert results["extra_data"]["gradable"] is False
    assert results["extra_data"]["reason"] == "the archive is encrypted"
    assert results["output"] == "Not graded: the archive is encrypted."
    assert results["tests"] == []


def test_a_note_about_the_files_is_followed_by_the_page_that_says_what_to_hand_in(grading):
    noted = replace(grading, problems=("no notebook",))
    said = report.results(noted, {"book": "https://example.org/book"})["output"].splitlines()
    assert said[-2:] == ["Note: no notebook", "What to hand in: https://example.org/book/hand-in.html"]
    assert "What to hand in" not in report.results(grading, {"book": "https://example.org/book"})["output"]


def test_results_are_written_whole_or_not_at_all(tmp_path):
    """Kills: writing NaN, which is not JSON, and leaving half a file when it is refused."""
    out = tmp_path / "results.json"
    report.write(out, report.unfinished())
    with pytest.raises(ValueError, match="not JSON compliant"):
        report.write(out, {"score": math.nan})
    assert json.loads(out.read_text())["output"] == report.UNFINISHED
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_questions_count_one_point_each(grading, monkeypatch):
    question = bank.find("03-eight-gpus-volume")
    answered = (Answered(question, "right"), Answered(question, "wrong", ("No.",)))
    both = Grading(grading.name, grading.sha256, grading.marks, answered)
    assert (both.score - grading.score, both.points - grading.points) == (1.0, 2.0)
    where = concepts.Reading("3.7", "Ring all-gather, then all-reduce", "https://example.edu/3.html")
    monkeypatch.setattr(concepts, "reading", lambda *_: where)
    tests = report.results(both, {})["tests"][-2:]
    assert [(test["score"], test["status"], test["output"]) for test in tests] == [
        (1.0, "passed", "Right."),
        (0.0, "failed", "No.\nRead section 3.7, Ring all-gather, then all-reduce: https://example.edu/3.html"),
    ]


def test_a_question_that_is_a_bonus_comes_on_top(grading):
    """Kills a total that counts a question from beyond the path, and a maximum that does."""
    question = replace(bank.find("03-eight-gpus-volume"), bonus=True)
    both = Grading(grading.name, grading.sha256, grading.marks, (Answered(question, "right"),))
    assert (both.score - grading.score, both.points - grading.points) == (1.0, 0.0)
    (test,) = report.results(both, {})["tests"][len(report.results(grading, {})["tests"]) :]
    assert (test["score"], test["max_score"]) == (1.0, 0.0)
    assert report.total(both).endswith("and 5 for optional items")


def test_the_table_has_one_row_for_each_item(grading):
    lines = report.table(grading, "sandbox: none").splitlines()
    assert lines[0].startswith("91-scale")
    assert " ".join(lines[1].split()) == "91-lowest 4 / 4 2 of 2 public cases, 1 of 1 hidden groups"
    assert "  hidden: The factor was added." in lines
    assert lines[-1] == "8 of 12 points, and 4 for optional items"
