"""The learner's copy: whole or not at all, the same every time, and without anything that a grade is staked on."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder import bank
from autograder.__main__ import main
from autograder.items import Debug
from autograder.maintenance import leaks, releasing
from autograder.maintenance.releasing import LIST, NotReleased, release
from autograder.running.exam import Exam
from tools.common import ROOT, notebooks


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A release of this course."""
    target = tmp_path_factory.mktemp("release") / "course"
    release(ROOT, target)
    return target


@pytest.fixture
def little(tmp_path) -> Path:
    """A course of one page and one lab."""
    root = tmp_path / "little"
    for name in ("book", "labs", "solutions"):
        (root / name / ("ch01" if name != "book" else "")).mkdir(parents=True)
    (root / "_config.yml").write_text("title: Little\nrepository:\n  url: https://example.org/x/y\n")
    page(root, "check(training_time)")
    (root / "book" / "instructors.md").write_text("# For instructors\n")
    lab(root, 'raise NotImplementedError("01-training-time: not written yet")')
    (root / "labs" / "README.md").write_text("# Labs\n")
    return root


def page(root: Path, source: str) -> None:
    cells = [nbformat.v4.new_markdown_cell("# 1. A page\n\ntext", id="title")]
    output = nbformat.v4.new_output("stream", text="3.14\n")
    cells.append(nbformat.v4.new_code_cell(source, id="code", outputs=[output], execution_count=7))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / "book" / "01-page.ipynb")


def lab(root: Path, body: str) -> None:
    (root / "labs" / "ch01" / "scale.py").write_text(f'def training_time(flops):\n    """Seconds."""\n    {body}\n')


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# What is in it.


def test_every_file_is_one_that_a_learner_needs(copy):
    """Kills: a copy of the tree."""
    pages = {path.relative_to(ROOT / "book").as_posix() for path in notebooks()}
    labs = {path.relative_to(ROOT).as_posix() for path in (ROOT / "labs").rglob("*.py")}
    assert set(contents(copy)) == pages | labs | {"README.md", "labs/README.md", LIST}


def test_pages_have_no_outputs(copy, little, tmp_path):
    for path in copy.rglob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
        layout = json.dumps(json.loads(path.read_text(encoding="utf-8")), indent=1, sort_keys=True, ensure_ascii=False)
        assert path.read_text(encoding="utf-8") == f"{layout}\n"  # Jupyter's layout is kept
        ours = json.loads((ROOT / "book" / path.relative_to(copy)).read_text(encoding="utf-8"))["cells"]
        assert all(a == b for a, b in zip(cells, ours, strict=True) if "after" not in b["metadata"].get("tags", ()))
    release(little, tmp_path / "out")
    text = (tmp_path / "out" / "01-page.ipynb").read_text()
    assert "3.14" not in text
    assert '"execution_count": null' in text


def bodies(node: ast.AST, inside: bool = True) -> set[str]:
    """The code of a function, and of those inside it, whatever its docstring and layout."""
    functions = [part for part in ast.walk(node) if isinstance(part, ast.FunctionDef)]
    parts = [part.body[1:] if ast.get_docstring(part) else part.body for part in functions]
    return {"\n".join(map(ast.unparse, part)) for part in (parts if inside else parts[:1])}


def defined(file: Path, name: str) -> ast.AST:
    return next(node for node in ast.parse(file.read_text()).body if getattr(node, "name", "") == name)


def test_no_exercise_is_solved_in_it(copy):
    """Kills: a release made where somebody has written the labs."""
    for item in bank.builds():
        fixes = isinstance(item, Debug)  # a part of a program to fix may be right
        own = bodies(defined(ROOT / "solutions" / item.file, item.function), inside=not fixes)
        given = bodies(ast.parse((copy / "labs" / item.file).read_text()))
        assert own
        assert given & own == set(), item.id


def test_labs_import_nothing_that_solves(copy):
    for path in (copy / "labs").rglob("*.py"):
        tree = ast.parse(path.read_text())
        names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
        assert {name.split(".")[0] for name in names} & {"solutions", "autograder", "tests"} == set(), path.name


def test_labs_import_in_it(copy):
    """In the copy alone, with nothing but the installed runtime beside it."""
    files = [path.relative_to(copy) for path in (copy / "labs").glob("ch*/*.py") if path.stem != "__init__"]
    modules = sorted(".".join(path.with_suffix("").parts) for path in files)
    code = (
        f"import importlib, sys; modules = [importlib.import_module(name) for name in {modules!r}]\n"
        "import pathlib; found = {str(pathlib.Path(m.__file__).parents[2]) for m in modules}\n"
        f"assert found == {{{str(copy)!r}}}\n"
        "print(sorted({'solutions', 'autograder'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=copy, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


@pytest.mark.proof(part="guides")
def test_no_hidden_input_stands_in_it(copy):
    with Exam(bank.builds(), b"a key of this term") as exam:
        assert leaks.standing(exam, contents(copy)) == {}


def test_programs_to_mend_are_given(copy):
    """The wrong program is the exercise: it stays."""
    item = next(item for item in bank.builds() if isinstance(item, Debug))
    given = defined(copy / "labs" / item.file, item.function)
    assert "NotImplementedError" not in ast.unparse(given)


def test_the_readme_names_every_page_and_how_to_install(copy, little):
    text = (copy / "README.md").read_text()
    assert all(f"]({path.relative_to(copy).as_posix()})" in text for path in copy.rglob("*.ipynb"))
    readme = releasing.files(little)["README.md"].decode()
    assert readme.startswith("# Little: the learner's copy\n")
    assert "pip install git+https://example.org/x/y jupyterlab\n" in readme
    assert "- [1. A page](01-page.ipynb)\n" in readme


# How it is written.


def test_twice_the_same_bytes(little, tmp_path):
    release(little, tmp_path / "one")
    release(little, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_an_earlier_release_is_replaced_whole(little, tmp_path):
    """Kills: files of a page that is gone, left behind."""
    release(little, tmp_path / "out")
    (little / "book" / "01-page.ipynb").rename(little / "book" / "02-page.ipynb")
    release(little, tmp_path / "out")
    assert set(contents(tmp_path / "out")) == {
        "02-page.ipynb",
        "labs/README.md",
        "labs/ch01/scale.py",
        "README.md",
        LIST,
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["little", "out"]


def test_an_empty_folder_will_do(little, tmp_path):
    (tmp_path / "out").mkdir()
    assert release(little, tmp_path / "out") == ["01-page.ipynb", "README.md", "labs/README.md", "labs/ch01/scale.py"]


def test_other_people_s_files_are_left_alone(little, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(NotReleased, match=r"out contains thesis\.tex, which no release wrote"):
        release(little, tmp_path / "out")
    assert contents(tmp_path / "out") == {"thesis.tex": b"mine"}


@pytest.mark.parametrize("change", ["labs/ch01/scale.py", "notes.md", LIST])
def test_work_in_an_earlier_release_is_left_alone(little, tmp_path, change):
    """Kills: a second release that overwrites what somebody wrote into the first."""
    release(little, tmp_path / "out")
    (tmp_path / "out" / change).write_text("{}")
    before = contents(tmp_path / "out")
    with pytest.raises(NotReleased, match="name another folder"):
        release(little, tmp_path / "out")
    assert contents(tmp_path / "out") == before


def test_a_file_is_no_folder(little, tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(NotReleased, match="out is a file"):
        release(little, tmp_path / "out")


@pytest.mark.parametrize("stood", [True, False])
def test_a_release_that_fails_leaves_what_was_there(little, tmp_path, monkeypatch, stood):
    """Kills: half a copy under the name of a whole one."""
    if stood:
        release(little, tmp_path / "out")
    before = contents(tmp_path)
    page(little, "changed = 1")
    renamed = os.replace

    def failing(source, target):
        if Path(target).name == "out" and not str(source).endswith(".old"):
            raise OSError(28, "No space left on device")
        renamed(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="No space"):
        release(little, tmp_path / "out")
    after = contents(tmp_path)
    assert {name: data for name, data in after.items() if name.startswith("out")} == {
        name: data for name, data in before.items() if name.startswith("out")
    }
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


# What it refuses to give away.


def test_a_lab_that_somebody_wrote_is_refused(little, tmp_path):
    lab(little, "return flops / 7")
    with pytest.raises(NotReleased, match=r"labs/ch01/scale\.py contains the body of training_time: run make stubs"):
        release(little, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_page_that_solves_an_exercise_is_refused(little, tmp_path):
    page(little, "def training_time(flops):\n    return flops")
    with pytest.raises(NotReleased, match=r"01-page\.ipynb contains the body of training_time"):
        release(little, tmp_path / "out")


def test_a_mended_program_is_refused(little, tmp_path):
    item = next(item for item in bank.builds() if isinstance(item, Debug))
    source = (ROOT / "solutions" / item.file).read_text()
    for folder in ("solutions", "labs"):
        (little / folder / item.file).write_text(source)
    with pytest.raises(NotReleased, match=f"contains the body of .*{item.function}"):
        release(little, tmp_path / "out")


# The command.


@pytest.mark.proof(part="guides")
def test_the_command_says_what_it_wrote(tmp_path, capsys):
    assert main(["release", str(tmp_path / "out")]) == 0
    pages = len(notebooks())
    labs = len([*(ROOT / "labs").rglob("*.py"), "README.md"])
    assert capsys.readouterr().out == f"{tmp_path / 'out'}: {pages} pages, {labs} files of labs, README.md\n"
    assert len(contents(tmp_path / "out")) == pages + labs + 2


def test_the_command_refuses_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(releasing, "files", lambda root: {})
    assert main(["release", str(ROOT / "labs")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "which no release wrote" in said.err
    (tmp_path / "file").write_text("x")
    assert main(["release", str(tmp_path / "file" / "folder")]) == 2
    assert "the release cannot be written to" in capsys.readouterr().err


def test_an_installed_course_without_pages_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(releasing, "__file__", str(tmp_path / "autograder" / "maintenance" / "releasing.py"))
    assert main(["release", str(tmp_path / "out")]) == 2
    assert "made in a checkout of the course" in capsys.readouterr().err
