"""``make quick``: what a change touches, and what is said of the rest."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from rankzero.facts.chapters import CHAPTERS, PARTS
from tools.common import ROOT
from tools.gates import check, quick

pytest_plugins = ["pytester"]

FILES = {
    "rankzero/units.py": "GB = 1",
    "rankzero/text.py": "FILE = 'alice.txt'",
    "rankzero/data/alice.txt": "Alice",
    "solutions/ch07/layout.py": "from rankzero.units import GB",
    "solutions/ch07/late.py": "def late():\n    from .layout import GB",
    "autograder/bank/ch07/choose_layout.py": 'layout = lazily("solutions.ch07.layout")',
    "tests/solutions/ch07/test_layout.py": "",
    "tests/solutions/ch07/test_late.py": "import solutions.ch07.late",
    "tests/autograder/bank/ch07/test_bank.py": "from autograder.bank.ch07 import choose_layout",
    "tests/rankzero/test_text.py": "from rankzero import text",
    "tests/rankzero/test_units.py": "from rankzero import units",
    "tests/helper.py": "from rankzero import units",
    "tests/demos/test_help.py": "import tests.helper",
    "tests/demos/test_none.py": "this is no Python",
    "book/07-layout.ipynb": "{}",
}


@pytest.fixture
def little(tmp_path: Path) -> Path:
    """A course under git, with one commit."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    quick.git("init", "-q", root=tmp_path)
    commit(tmp_path)
    return tmp_path


def commit(root: Path) -> None:
    who = ("-c", "user.name=A reader", "-c", "user.email=reader@example.org", "-c", "commit.gpgsign=false")
    quick.git("add", "-A", root=root)
    quick.git(*who, "commit", "-qm", "A state", root=root)


def test_a_change_is_what_git_does_not_have(little):
    """Edited, new, removed and staged files; with none of them the last commit."""
    (little / "rankzero" / "units.py").write_text("GB = 2")
    (little / "rankzero" / "new.py").touch()
    (little / "solutions" / "ch07" / "late.py").unlink()
    quick.git("add", "rankzero/units.py", root=little)
    expected = ["rankzero/new.py", "rankzero/units.py", "solutions/ch07/late.py"]
    assert quick.changed(little) == expected
    commit(little)
    assert quick.changed(little) == expected


def test_the_first_commit_is_a_change_too(little):
    assert quick.changed(little) == sorted(FILES)


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        (
            "solutions/ch07/layout.py",
            "solutions/ch07/test_layout solutions/ch07/test_late autograder/bank/ch07/test_bank",
        ),
        ("rankzero/data/alice.txt", "rankzero/test_text"),
        ("autograder/bank/ch07/choose_layout.py", "autograder/bank/ch07/test_bank"),
        ("tests/helper.py", "demos/test_help"),
        ("tests/demos/test_none.py", "demos/test_none"),
        ("book/07-layout.ipynb", ""),
        ("README.md", ""),
    ],
)
def test_the_tests_of_a_change(little, changed, tests):
    """Mirrors, importers at any depth and inside functions, modules that are named, readers of data."""
    assert quick.nearest([changed], quick.uses(little)) == [f"tests/{name}.py" for name in tests.split()]


def test_the_nearest_come_first(little):
    """The mirror, then who imports it, then the mirror's neighbours, then who imports that."""
    (little / "tests" / "demos" / "test_near.py").write_text("import rankzero.units")
    assert quick.nearest(["rankzero/units.py"], quick.uses(little)) == [
        "tests/rankzero/test_units.py",
        "tests/demos/test_near.py",
        "tests/rankzero/test_text.py",
        "tests/demos/test_help.py",
        "tests/autograder/bank/ch07/test_bank.py",
        "tests/solutions/ch07/test_late.py",
    ]


def test_a_module_that_is_gone_is_missed_by_its_importers(little):
    (little / "solutions" / "ch07" / "layout.py").unlink()
    assert "tests/solutions/ch07/test_late.py" in quick.nearest(["solutions/ch07/layout.py"], quick.uses(little))


def test_the_tests_of_a_room_stay_together():
    """Kills a run in which pytest comes back to a folder, whose fixtures it has forgotten by then."""
    tests = [
        "tests/solutions/ch05/test_a.py",
        "tests/test_b.py",
        "tests/autograder/test_c.py",
        "tests/solutions/test_d.py",
    ]
    assert quick.by_room(tests) == [tests[0], tests[3], tests[2], tests[1]]


@pytest.mark.parametrize(
    ("file", "chapters"),
    [
        ("solutions/ch07/layout.py", ["ch07"]),
        ("tests/experiments/ch07/test_live_07.py", ["ch07"]),
        ("book/07-pipeline-expert.ipynb", ["ch07"]),
        ("book/deeper/15-faults.ipynb", ["ch15"]),
        ("rankzero/units.py", []),
    ],
)
def test_a_chapter_is_touched_by_its_files(file, chapters):
    assert [one.package for one in quick.touched_chapters([file])] == chapters


def test_every_step_ends_in_time(monkeypatch):
    """Each one has its end, and tests begin no later than some seconds before it."""
    monkeypatch.setattr(quick, "time", SimpleNamespace(monotonic=lambda: 10.0, time=lambda: 5000.0))
    stages = quick.stages(["book/07-pipeline-expert.ipynb"], ["tests/a.py"], end=100.0)
    steps = [step for lanes in stages for lane in lanes for step in lane]
    names = ["lint", "format", "types", "stubs", "install cells", "texts of the pages", "tests", "tests of every item"]
    assert [step.name for step in steps] == names
    assert {step.until for step in steps} == {100.0}
    assert float(steps[-1].settings["RANKZERO_DEADLINE"]) == 5090.0 - quick.RESERVE


def test_a_step_whose_time_is_over_does_not_begin(capsys):
    step = check.Step("late", ("-c", "raise SystemExit(1)"), until=time.monotonic() - 1)
    assert check.perform(step) == check.Count(skipped=1)
    assert capsys.readouterr().out == "late: left out, no time was left\n"


@pytest.mark.proof(part="guides")
def test_tests_that_come_too_late_are_named(pytester, monkeypatch):
    """They are skipped before their fixtures are made, and found in the report."""
    pytester.makepyfile(test_late="import pytest\n@pytest.fixture\ndef slow(): assert False\ndef test_it(slow): pass")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for moment, outcome in ((time.time() - 1, {"skipped": 1}), (time.time() + 600, {"errors": 1})):
        monkeypatch.setenv("RANKZERO_DEADLINE", str(moment))
        done = pytester.runpytest_subprocess("-p", "tools.gates.deadline", "--junitxml=report.xml")
        done.assert_outcomes(**outcome)
        assert quick.unfinished(pytester.path / "report.xml") == (["test_late"] if "skipped" in outcome else [])


def test_long_lists_are_cut():
    assert quick.listed([]) == ""
    assert quick.listed(["a", "b"]) == "a, b"
    assert quick.listed(["a"] * 63) == ", ".join(["a"] * 60) + " and 3 more"


def test_a_wrong_call_of_git_is_no_empty_change(tmp_path):
    with pytest.raises(subprocess.CalledProcessError):
        quick.changed(tmp_path)


def test_every_part_has_a_page_that_is_executed_twice():
    parts = [one.part for one in CHAPTERS if one.number in check.TWICE]
    assert sorted(parts) == sorted(set(PARTS) - {"Capstone"})


@pytest.mark.parametrize(("reported", "status"), [("", 1), ("tests of every item", 0)])
def test_the_report_of_an_earlier_run_proves_nothing(tmp_path, monkeypatch, capsys, reported, status):
    """Kills: a run whose tests did not end, taken for one that passed because a report of yesterday lies there."""
    late = '<testsuite><testcase classname="tests.old"><skipped message="no time was left"/></testcase></testsuite>'
    monkeypatch.setattr(quick, "REASON", "no time was left")
    monkeypatch.setattr(quick, "no_checkout", lambda: "")
    monkeypatch.setattr(check, "REPORTS", tmp_path)
    for step in ("tests", "tests of every item"):
        check.report_of(step).write_text(late)
    monkeypatch.setattr(quick, "changed", lambda: ["rankzero/units.py"])
    monkeypatch.setattr(quick, "uses", dict)
    monkeypatch.setattr(quick, "nearest", lambda change, graph: ["tests/test_units.py"])

    def run(stages):
        if reported:
            check.report_of(reported).write_text("<testsuite/>")
        return check.Count(skipped=1)

    monkeypatch.setattr(check, "run", run)
    assert quick.main() == status
    said = capsys.readouterr().out
    assert ("this run proves nothing" in said) == bool(status)
    assert "tests.old" not in said
