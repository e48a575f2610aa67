"""A page that was worked on counts in the course's own folder too, and code that is not read is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import cells, packed

from autograder.submission import Unreadable, homes, load, load_files, loading, notebook
from tools.build_book import notebooks
from tools.common import ROOT

HEAD = "def message_time(message_bytes, bandwidth, latency=0.0):\n"
STUB = HEAD + "    raise NotImplementedError('02-message-time: not written yet')\n"
RIGHT = HEAD + "    return latency + message_bytes / bandwidth\n"


@pytest.fixture(params=["folder", "archive", "archive in a folder"])
def loaded(request, tmp_path):
    """Loads files in each of the ways in which they come."""

    def load_them(files: dict[str, bytes]):
        if request.param == "folder":
            return load_files("ann", {name: lambda data=data: data for name, data in files.items()})
        (tmp_path / "in" / "ann.zip").parent.mkdir(exist_ok=True)
        (tmp_path / "in" / "ann.zip").write_bytes(packed(files))
        return load(tmp_path / "in" / ("ann.zip" if request.param == "archive" else ""))

    return load_them


LAB = {"ann/labs/ch02/alpha_beta.py": STUB.encode()}


@pytest.mark.parametrize(
    "page",
    ["ann/book/02-point-to-point.ipynb", "ann/Book/mine.ipynb", "ann/book/deeper/02-point-to-point-deeper.ipynb"],
)
def test_a_page_in_the_folder_book_beats_the_stub_in_labs(page, loaded):
    """Kills: 0 points, silently, for whoever packs the course's folders as they are."""
    found = loaded(LAB | {page: cells(RIGHT)})
    assert [unit.source for unit in found.units if "message_bytes / bandwidth" in unit.source]
    assert found.homes == {"message_time": None}
    assert found.problems == ()


@pytest.mark.parametrize("path", ["work/mine.py", "Week 3/alpha_beta.py", "homework/02.ipynb", "ann/solved/x.py"])
def test_in_any_folder_beside_labs_a_written_function_beats_the_stub(path, loaded):
    """Kills: 0 points for a program that lies in a folder of the learner's own."""
    files = {"ann/labs/ch02/alpha_beta.py" if path.startswith("ann/") else "labs/ch02/alpha_beta.py": STUB.encode()}
    found = loaded(files | {path: cells(RIGHT) if path.endswith("nb") else RIGHT.encode()})
    assert [unit for unit in found.units if "message_bytes / bandwidth" in unit.source]
    assert found.homes or "alpha_beta" in path
    assert all("Week 3/alpha_beta.py counts" in problem for problem in found.problems)


@pytest.mark.proof(part="guides")
def test_of_the_course_as_it_was_handed_out_the_pages_are_not_run():
    """Kills: a minute of grading for twenty chapters in which somebody has only read."""
    files = {name: lambda data=data: data for name, data in LAB.items()}
    pages = {f"ann/{path.relative_to(ROOT).as_posix()}": path.read_bytes for path in notebooks()}
    found = load_files("ann", files | pages)
    assert {unit.label for unit in found.units} == {"alpha_beta.py"}
    assert found.problems == ()
    name = next(name for name in pages if name.endswith("03-collectives-deeper.ipynb"))
    answered = pages[name]().replace(b'predict(\\"03-steps\\")', b'predict(\\"03-steps\\", 6)')
    found = load_files("ann", files | {name: lambda: answered})
    assert found.answers["03-steps"] == (6,)
    assert {unit.label.split(" ")[0] for unit in found.units} == {"alpha_beta.py", "03-collectives-deeper.ipynb"}


def test_pages_in_which_nothing_was_done_are_a_hand_in_too(loaded):
    assert loaded({"book/01.ipynb": cells(STUB), "book/02.ipynb": cells("X = 1")}).units


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["a/b/mine.py"],
            "a/b/mine.py is not read: code is looked for only at the top, in folders there such as labs, ",
        ),
        (["a/b/mine.ipynb", "week 3/deep/times.py"], "a/b/mine.ipynb and 1 more are not read: "),
        (["labs/a/b/times.py"], "labs/a/b/times.py is not read: "),
        (["src/a/b/times.PY"], "src/a/b/times.PY is not read: "),
        (["tests/test_times.py", "solutions/ch02/times.py", "venv/lib/x.py", "a/node_modules/x.py"], ""),
        ([".git/x.py", "__MACOSX/times.py", "work/notes.txt", "work/__init__.py"], ""),
    ],
)
def test_code_that_is_not_read_is_named(more, said, loaded):
    """Kills: "not implemented yet" about a program that stands in a folder that nobody looks into."""
    found = loaded({"labs/ch02/alpha_beta.py": STUB.encode()} | dict.fromkeys(more, RIGHT.encode()))
    assert len(found.problems) == bool(said)
    assert all(said in problem for problem in found.problems)


@pytest.mark.parametrize("name", ["zero.py.py", "lab.ipynb.py", "lab.ipynb.ipynb", "Lab5.py.IPYNB"])
def test_a_name_with_two_endings_that_are_read_is_read(name, tmp_path):
    """Kills: "zero.py.py is not a .py file", of a system that hides what files end in."""
    (tmp_path / name).write_bytes(RIGHT.encode() if name.endswith("py") else cells(RIGHT))
    for path in (tmp_path / name, tmp_path):
        found = load(path)
        assert ["message_bytes / bandwidth" in unit.source for unit in found.units] == [True]
        assert found.problems == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RIGHT, "is not a notebook but Python: rename it so that it ends in .py"),
        ("# %%\nimport math\n# %%\nclass A:\n    pass\n", "is not a notebook but Python: rename it so that"),
        ("<!DOCTYPE html><p>Sign in</p>", "is not a notebook: it is not JSON; save it again in Jupyter"),
        ("", "is not a notebook: it is not JSON"),
        ('{"cells": [', "is not a notebook: it is not JSON"),
    ],
)
def test_what_stands_in_a_file_that_is_no_notebook_is_told(text, said, tmp_path):
    """Kills "save it again in Jupyter" about a program that only has the wrong name."""
    (tmp_path / "lab.ipynb").write_text(text)
    with pytest.raises(Unreadable, match=f"^lab.ipynb {said}"):
        load(tmp_path / "lab.ipynb")


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: Path(path).stem)
def test_no_page_writes_a_function_that_is_graded(path):
    """Kills: a cell of the course that is taken for the learner's work, with an error about what it imports."""
    units, _, _ = notebook.parts(path.name, path.read_bytes())
    found = homes.defined(path.name, units, loading._functions())
    assert [name for name, one in found.items() if not one.stub] == []
