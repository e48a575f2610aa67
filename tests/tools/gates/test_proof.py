"""``make proof``: its parts are those that tests name, and what passed is not run again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.common import ROOT
from tools.gates import check, proof, resume

pytest_plugins = ["pytester"]

MIXED = """
import os, pytest
GROUP = pytest.mark.xdist_group("one process")
@GROUP
@pytest.mark.parametrize("word", ["a", "b@c"])
def test_right(word): pass
@GROUP
def test_wrong(): assert os.environ.get("MENDED")
@GROUP
def test_left_out(): pytest.skip("not here")
@pytest.fixture
def breaks():
    yield
    assert os.environ.get("MENDED")
@GROUP
def test_breaks_at_the_end(breaks): pass
"""


def test_every_part_has_tests_and_every_test_a_part():
    """Kills: a name that is misspelt, whose tests neither gate runs."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    named = {part for text in texts for part in re.findall(r"\bmark\.proof\(part=\"(\w+)\"\)", text)}
    assert named | {"laws", "notebooks"} == set(proof.PARTS)
    calls = [call for text in texts for call in re.findall(r"\bmark\.proof\b.{0,7}", text) if "\\b" not in call]
    assert [call for call in calls if not call.startswith("mark.proof(part=")] == []


@pytest.mark.parametrize("part", proof.PARTS)
def test_a_part_reads_every_module_that_names_it(part, tmp_path):
    """Kills: tests of pages that open no browser, and that no part runs."""
    naming = f'mark.proof(part="{part}")'
    files = (ROOT / "tests").rglob("test_*.py")
    named = {path.relative_to(ROOT).as_posix() for path in files if naming in path.read_text(encoding="utf-8")}
    read = {argument for step in proof.steps(part, tmp_path / "passed") for argument in step.command}
    assert part in ("laws", "notebooks") or named <= read


def test_make_test_leaves_out_what_is_marked_and_proof_what_is_not(pytester):
    pytester.makeini("[pytest]\nmarkers =\n    proof(part): x\n    browser: y\n")
    pytester.makepyfile(
        "import pytest\n"
        "def test_plain(): pass\n"
        "@pytest.mark.proof(part='bank')\ndef test_keys(): pass\n"
        "@pytest.mark.browser\ndef test_page(): pass\n"
        "@pytest.mark.browser\n@pytest.mark.proof(part='pages')\ndef test_pages(): pass\n"
    )
    for expression in (check.UNIT, check.BROWSER, proof.expression("bank"), proof.expression("pages")):
        pytester.runpytest("-m", expression).assert_outcomes(passed=1, deselected=3)


@pytest.mark.parametrize("processes", ["0", pytest.param("2", marks=pytest.mark.proof(part="systems"))])
def test_a_run_goes_on_where_it_was(pytester, monkeypatch, processes):
    """Kills: a test that is left out although it never passed, and one that is run again although it did."""
    pytester.makeini("[pytest]\n")
    pytester.makepyfile(MIXED)
    passed = pytester.path / "part.passed"
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run() -> dict[str, int]:
        for name, value in resume.settings(passed).items():
            monkeypatch.setenv(name, value)
        done = pytester.runpytest_subprocess("-p", "tools.gates.resume", "-n", processes, "--dist", "loadgroup")
        return done.parseoutcomes()

    assert run() == {"passed": 3, "failed": 1, "skipped": 1, "errors": 1}
    assert len(resume.known(passed)) == 2
    monkeypatch.setenv("MENDED", "yes")
    again = run()
    assert (again["passed"], again["skipped"]) == (2, 1)
    assert len(resume.known(passed)) == 4


def test_what_is_through_is_not_run_again(tmp_path, monkeypatch, capsys):
    """Nor is a part that failed forgotten: it begins where it was."""
    record = proof.Record(tmp_path, "bank")
    ran = []
    monkeypatch.setattr(proof, "steps", lambda part, passed: [check.Step("bank", ("-c", ""), tmp_path / "none.xml")])
    monkeypatch.setattr(check, "perform", lambda step: ran.append(step) or counts.pop(0))
    counts = [check.Count(3, 1), check.Count(1)]
    record.passed.write_text("a\nb\nc\nhalf a li")
    assert proof.perform("bank", record) == check.Count(6, 1)
    assert record.read() is None
    assert proof.perform("bank", record) == check.Count(4)
    assert proof.perform("bank", record) == check.Count(4)
    assert len(ran) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("part bank: 6 passed, 1 failed, 0 skipped, 3 of them in an earlier run, ")
    assert lines[2].endswith(" on these files before")
    assert json.loads(record.whole.read_text())["count"] == {"passed": 4, "failed": 0, "skipped": 0}


def test_a_part_that_is_not_there_is_one_sentence(capsys):
    assert proof.main(["bank", "corpse"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("PART must be one of bank, runs, systems, ")
    assert said.err.endswith(", got 'corpse': make proof PART=corpus\n")


def test_a_changed_or_new_file_is_another_state(little_project: Path):
    first = proof.state(little_project)
    assert proof.state(little_project) == first
    (little_project / "new.py").write_text("1")
    second = proof.state(little_project)
    (little_project / "new.py").write_text("2")
    third = proof.state(little_project)
    (little_project / "kept.py").unlink()
    (little_project / "ignored.txt").write_text("3")
    fourth = proof.state(little_project)
    assert len({first, second, third, fourth}) == 4
    (little_project / "ignored.txt").write_text("4")
    assert proof.state(little_project) == fourth


@pytest.fixture
def little_project(tmp_path: Path) -> Path:
    """A folder under git with one file, and one name that git ignores."""
    from tools.gates.quick import git

    (tmp_path / "kept.py").write_text("x = 1")
    (tmp_path / ".gitignore").write_text("ignored.txt")
    git("init", "-q", root=tmp_path)
    git("add", "-A", root=tmp_path)
    return tmp_path


@pytest.mark.proof(part="guides")
def test_tests_of_a_group_are_run_by_one_process(pytester):
    """Kills: a pytest and a pytest-xdist that do not fit, by which shared fixtures are made in every process."""
    pytester.makeini("[pytest]\n")
    pytester.makepyfile(
        "import os, pytest\n"
        "@pytest.mark.parametrize('n', range(20))\n"
        "@pytest.mark.xdist_group('together')\n"
        "def test_grouped(n): print('in', os.environ['PYTEST_XDIST_WORKER'])\n"
    )
    done = pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup", "-rP")
    workers = {line.split()[1] for line in done.outlines if line.startswith("in gw")}
    assert len(workers) == 1
