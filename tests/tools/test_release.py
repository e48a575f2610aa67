"""What ``make release-check`` makes of a wheel, of a Python and of a page; it runs itself where a release is made."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from tools import execute
from tools.common import ROOT
from tools.gates.check import Count
from tools.install_cells import EXTRAS
from tools.release import bare, check, environments, pages, wheel
from tools.release.environments import Interpreter

METADATA = """\
Metadata-Version: 2.4
Name: rankzero
Requires-Dist: numpy>=1.26
Requires-Dist: torch>=2.10
Requires-Dist: openai>=1.50; extra == "serve"
"""
HERE = Interpreter("3.11", Path(sys.executable), torch=True)
BARE = Interpreter("3.13", Path(sys.executable), torch=False)


def packed(path: Path, names: list[str], record: str = "one") -> Path:
    """A wheel with some files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
        archive.writestr("rankzero-1.dist-info/METADATA", METADATA)
        archive.writestr("rankzero-1.dist-info/RECORD", record)
    return path


def test_a_wheel_has_every_file_of_the_rooms_and_no_other(tmp_path, monkeypatch):
    """Kills: data that package-data forgets, and tests that are distributed."""
    course = ["README.md", "labs/README.md", "pyproject.toml", "rankzero/data/alice.txt", "rankzero/data/README.md"]
    monkeypatch.setattr(wheel, "parts", lambda: course)
    assert wheel.difference(packed(tmp_path / "whole.whl", ["rankzero/data/alice.txt"])) == []
    other = packed(tmp_path / "other.whl", ["rankzero/data/README.md", "tests/conftest.py"])
    assert wheel.difference(other) == ["rankzero/data/alice.txt", "tests/conftest.py"]


def test_the_distribution_is_made_of_packages_and_what_describes_them():
    """Kills: a build that hands out tests, tools or the pages."""
    parts = wheel.parts()
    assert {"rankzero/facts/data/h100.json", "autograder/classroom/templates/base.html", "pyproject.toml"} <= set(parts)
    assert {name.partition("/")[0] for name in parts} == {*wheel.packages(), *wheel.ABOUT}


def test_pyproject_declares_every_kind_of_data():
    """The cheap half of the check of a wheel: what setuptools is told to take covers what git has."""
    import tomllib

    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]
    for name in wheel.parts():
        if name in wheel.ABOUT or name.endswith((".py", "README.md")):
            continue
        package = name.partition("/")[0]
        patterns = [*told["*"], *told.get(package, ()), *told.get(str(Path(name).parent.parent).replace("/", "."), ())]
        assert any(Path(name).match(pattern) for pattern in patterns), name


def test_a_wheels_fingerprint_is_that_of_its_files(tmp_path):
    """Kills: environments made anew because the wheel was built on another day, and old ones taken for new files."""
    one, same = (packed(tmp_path / f"{name}.whl", [name]) for name in ("a", "b"))
    assert wheel.fingerprint(one) == wheel.fingerprint(same)
    assert wheel.fingerprint(packed(tmp_path / "c.whl", ["a"], record="two")) != wheel.fingerprint(one)


def test_an_extra_adds_its_requirements(tmp_path):
    built = packed(tmp_path / "one.whl", [])
    assert wheel.requirements(built, "") == ["numpy>=1.26", "torch>=2.10"]
    assert wheel.requirements(built, "serve") == ["numpy>=1.26", "torch>=2.10", "openai>=1.50"]


def test_what_only_an_extra_brings_is_known():
    """Kills: a module that imports pydantic, which comes with an extra, told as broken where the extra is not."""
    brought = wheel.brought(extra for extra, _ in EXTRAS.values())
    assert "pydantic" in brought
    assert {module for _, modules in EXTRAS.values() for module in modules} <= {"rankzero", *brought}


def test_a_chapters_pages_are_chosen_and_their_extras_known():
    assert [page.stem for page in pages.chosen("08")] == ["08-server", "08-server-deeper"]
    assert [pages.extra(page) for page in pages.chosen("8")] == ["serve", "serve"]
    assert pages.chosen("cap")[0].stem == "15-capstone"
    assert len(pages.chosen("")) > 2 * 14
    assert pages.extra(pages.chosen("3")[0]) == ""
    with pytest.raises(ValueError, match=r"N must be the number of a chapter, 1 to 15, or cap, got '16'"):
        pages.chosen("16")


def ran(*sources: str, **errors: str) -> list[nbformat.NotebookNode]:
    """Cells that ran, of which those named ``c0``, ``c1`` ended in an error."""
    cells = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    for cell in cells:
        if cell.id in errors:
            name, _, text = errors[cell.id].partition(": ")
            cell.outputs = [nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[])]
    return cells


def test_without_torch_a_page_runs_statement_by_statement():
    """Kills: an import cell that fails as a whole, after which nothing of the page is tried."""
    source = "from a import b, c as d\nx = [\n    1]\n\n\ndef f():\n    return x"
    parts = ["from a import b", "from a import c as d", "x = [\n    1]", "def f():\n    return x"]
    assert list(bare.split(source)) == parts
    assert list(bare.split("%pip install x\ny = 1")) == ["%pip install x\ny = 1"]
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source), nbformat.v4.new_markdown_cell("text")])
    assert [cell.source for cell in bare.statements(page).cells] == parts


def test_only_what_needs_torch_is_passed_over():
    """Kills: any error of Python 3.13 that hides behind the missing torch."""
    lack = f"ImportError: torch.zeros was needed, and {environments.LACKING}"
    sources = ("x, y = torch.zeros(2)", "print(x)", "z = y + 1", "print(z)", "w = 1")
    name = "NameError: name '{}' is not defined"
    errors = {"c0": lack, "c1": name.format("x"), "c2": name.format("y"), "c3": name.format("z")}
    assert bare.judged(ran(*sources, **errors)) == (1, None)
    stale = ran(
        "old = 1", "old = torch.zeros(2)", "old.shape", "old = 2", "old.shape", c1=lack, c2="AttributeError: shape"
    )
    assert bare.judged(stale)[1] is None
    stale[4].outputs = stale[2].outputs
    assert bare.judged(stale)[1] == "c4: AttributeError: shape"
    for other in ("TypeError: no", name.format("unknown")):
        assert bare.judged(ran(*sources, **errors | {"c4": other}))[1] == f"c4: {other}"


def test_a_name_inside_a_function_is_another():
    """Kills: an import that torch needs, taken as there because a function has a variable of that name."""
    assert bare.bound("def f(x):\n    copied = [row for row in x]") == {"f"}
    assert bare.bound("for row in x:\n    copied = row") == {"row", "copied"}
    lack = f"ImportError: torch.nn was needed, and {environments.LACKING}"
    sources = ("from models import copied", "def f(x):\n    copied = x", "copied(1)")
    errors = {"c0": lack, "c2": "NameError: name 'copied' is not defined"}
    assert bare.judged(ran(*sources, **errors)) == (1, None)


def test_a_cell_that_hangs_is_told_and_no_error_before_it():
    """Kills: a page without torch, whose first error is expected, called broken there when a later cell hangs."""
    page = nbformat.v4.new_notebook(cells=ran("import torch", "while True: pass", c0="ImportError: no torch"))
    hangs = CellTimeoutError.error_from_timeout_and_cell("it timed out", 9, page.cells[1])
    assert execute.explain(Path("01.ipynb"), page, hangs).startswith("01.ipynb: CellTimeoutError: ")
    assert "cell 'c0': ImportError: no torch" in execute.explain(Path("01.ipynb"), page, DeadKernelError("dead"))


def test_what_would_have_been_filled_is_missing_too():
    """Kills: a page called broken on the newest Python for a table whose rows need torch."""
    lack = f"ImportError: torch.zeros was needed, and {environments.LACKING}"
    unsent = "Unsendable: argument 0 is a function, which cannot be sent to the ranks"
    sources = ("runs = {}", "for n in (1,):\n    runs[n] = torch.zeros(n)", "print(runs[1])", "marks = []")
    sources += ("marks.append(world.run(work))", "print(marks[0])", "other = {}", "print(other[1])")
    errors = {"c1": lack, "c2": "KeyError: 1", "c4": unsent, "c5": "IndexError: list index out of range"}
    assert bare.judged(ran(*sources, **errors)) == (4, None)
    assert bare.judged(ran(*sources, **errors, c7="KeyError: 1"))[1] == "c7: KeyError: 1"


def test_every_module_is_imported_or_needs_torch(tmp_path):
    """Kills: a module of the wheel that this Python cannot compile, passed over with those that need torch."""
    (tmp_path / "torch.py").write_text(environments.stand_in("2.13.0"))
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "__init__.py").touch()
    for name, text in {
        "a": "import torch.nn",
        "b": "from torch import nn",
        "c": "x = 1",
        "d": "import missing",
    }.items():
        (tmp_path / "room" / f"{name}.py").write_text(text)
    command = [sys.executable, str(ROOT / "tools/release/imports.py"), "room", "--without", "missing"]
    settings = {"env": {"PYTHONPATH": str(tmp_path)}, "capture_output": True, "text": True}
    done = subprocess.run(command, **settings)
    assert (done.returncode, done.stdout) == (0, "2 modules imported, 2 need torch, 1 an extra\n")
    (tmp_path / "room" / "c.py").write_text("import distutils.none")
    done = subprocess.run(command, **settings)
    assert done.returncode == 1
    assert "room.c: ModuleNotFoundError: No module named 'distutils" in done.stderr


def test_what_passed_is_run_again_when_page_or_wheel_change(tmp_path, monkeypatch):
    """Kills: a page that counts as passed with another wheel, or on another Python."""
    one, two = packed(tmp_path / "1.whl", []), packed(tmp_path / "2.whl", [], record="two")
    page = tmp_path / "01-page.ipynb"
    page.write_text("one")
    marks = {check.mark(page, HERE, one), check.mark(page, BARE, one), check.mark(page, HERE, two)}
    page.write_text("two")
    assert len(marks | {check.mark(page, HERE, one)}) == 4


def test_the_minutes_count_what_is_left(tmp_path):
    """Two Pythons, one page of an extra left on one of them: both environments of their command lines, and its own."""
    first, second, *_ = pages.chosen("08")
    (tmp_path / "yes").touch()
    tasks = [check.Task(first, HERE, tmp_path / "no"), check.Task(second, BARE, tmp_path / "yes")]
    assert check.minutes(tasks) == 2 * check.SHELL + 3 * check.INSTALL + pages.LIMIT / 60
    assert check.minutes(tasks[1:]) == check.SHELL + check.INSTALL


def test_a_command_that_hangs_is_told(monkeypatch):
    """Kills: an index that does not answer, on which a release waits for ever."""
    monkeypatch.setattr(wheel, "COMMAND", 0.001)
    with pytest.raises(wheel.Broken, match=r"-c import time; time\.sleep\(9\) did not end within 0\.001 minutes"):
        wheel._run(sys.executable, "-c", "import time; time.sleep(9)")


def test_a_python_that_is_missing_is_told(monkeypatch, capsys):
    """Kills: a release that was never tried on the newest Python, without a word."""
    monkeypatch.setattr(environments.shutil, "which", lambda name: None)
    assert check.interpreters(["3.99"]) == []
    assert "skipped: there is no Python 3.99 here (uv python install 3.99)" in capsys.readouterr().out


def test_a_missing_torch_names_itself(tmp_path):
    """Kills: a page that is said to need no torch, and does."""
    (tmp_path / "torch.py").write_text(environments.stand_in("2.13.0"))
    for program, said in (
        ("import torch; torch.zeros(3)", "torch.zeros was needed, and this environment has no torch"),
        ("import torch.distributed", "torch.__path__ was needed"),
    ):
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
        assert said in done.stderr


def test_the_pinned_torch_is_the_one_of_the_gate(monkeypatch):
    pinned = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))
    for system, end in (("linux", "+cpu"), ("darwin", "")):
        monkeypatch.setattr(environments.sys, "platform", system)
        assert environments.pinned_torch() == pinned + end


def test_a_learners_settings_lead_to_no_checkout(monkeypatch, tmp_path):
    """Kills: a check that passes because PYTHONPATH leads to the sources."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    found = environments.settings(tmp_path)
    assert not {"PYTHONPATH", "XDG_DATA_HOME", "RANKZERO_BOOK"} & set(found)
    assert found["HOME"] == str(tmp_path)


def test_a_page_must_take_the_course_from_the_environment(tmp_path):
    python = tmp_path / "one" / "bin" / "python"
    assert pages.misplaced(str(tmp_path / "one/lib/rankzero/__init__.py"), python) is None
    assert pages.misplaced(str(ROOT / "rankzero/__init__.py"), python) == (
        f"the page took the course from {ROOT / 'rankzero/__init__.py'}"
    )


def test_a_tag_names_the_version():
    """Kills: a tag beside the version, whose release has the address of no page."""
    with pytest.raises(wheel.Broken, match=r"the tag v0\.0\.1 must be v"):
        check.distribution("v0.0.1")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ("## 1.2.0 (in preparation)\n", r"'## 1\.2\.0 \(in preparation\)'"),
        ("## 1.2.0\n\n## 1.1.0 (2026-11-01)\n", r"'## 1\.2\.0'"),
        ("## 1.2.0.1 (2026-11-01)\n", "none"),
    ],
)
def test_a_tag_has_dated_changes(changes, found):
    """Kills: a release whose page of changes says that it is in preparation."""
    check.tagged("v1.2.0", "1.2.0", "# Changes\n\n## 1.2.0 (2026-12-01)\n\nText.\n")
    with pytest.raises(wheel.Broken, match=rf"CHANGELOG.md must have a section '## 1\.2\.0 .* v1\.2\.0, got {found}$"):
        check.tagged("v1.2.0", "1.2.0", f"# Changes\n\n{changes}")


def test_where_nothing_can_be_tried_it_fails(monkeypatch, capsys):
    """Kills: a check that passes because it skipped everything, and a build of many minutes before it says so."""
    monkeypatch.setattr(environments, "program", lambda version: None)
    monkeypatch.setattr(check, "distribution", lambda tag: pytest.fail("it was built"))
    assert check.main(["--python", "3.98", "3.99"]) == 1
    assert capsys.readouterr().err == "nothing was tried: there is no Python 3.98 or 3.99 here\n"


def test_the_command_line_is_tried_and_what_fails_is_named(tmp_path, monkeypatch):
    """Kills: a command that fails in an empty folder, or prints something else, and is not told."""
    python = Path(sys.executable)
    monkeypatch.setattr(wheel, "packages", lambda: ["json"])
    for program, said in (("print('one')", None), ("print('two')", "two"), ("raise SystemExit('three')", "three")):
        monkeypatch.setattr(check, "COMMANDS", ((("-c", program), "one"),))
        assert check.commands(python) == (said and f"python -c {program}: {said}")
    monkeypatch.setattr(check, "SHELL", 0)
    assert "it did not end, within 0 minutes" in check.commands(python)


def test_a_failure_decides_the_status(monkeypatch, capsys):
    for count, status in ((Count(passed=2, skipped=1), 0), (Count(passed=2, failed=1), 1)):
        monkeypatch.setattr(check, "run", lambda arguments, count=count: count)
        assert check.main([]) == status
        assert capsys.readouterr().out == f"{count}\n"
