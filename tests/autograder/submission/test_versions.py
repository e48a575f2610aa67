"""A file that was handed in twice: the one that is written counts, and what was taken is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from written_files import packed

from autograder import submission
from autograder.classroom import collecting
from autograder.submission import Unreadable
from autograder.submission.versions import Version, settle

ROOT = Path(__file__).parents[3]
TOPICS = ("zero", "ring")
STUB = '''"""Zero."""


def memory(ranks):
    """Bytes."""
    raise NotImplementedError("05-memory: not written yet")


def shards(ranks):
    return ranks + 1


class Scaler:
    def step(self):
        raise NotImplementedError("05-scaler: not written yet")
'''
SOLVED = STUB.replace('raise NotImplementedError("05-memory: not written yet")', "return 16 / ranks")
OTHER = STUB.replace('raise NotImplementedError("05-memory: not written yet")', "return 8 / ranks")
#: How a copy of ``zero.py`` is called by browsers, desktops and platforms.
COPIES = (
    "zero (1).py",
    "zero(1).py",
    "zero-1.py",
    "zero 2.py",
    "zero copy.py",
    "zero copy 2.py",
    "zero - Copy.py",
    "zero - Copy (2).py",
    "zero-copy.py",
    "Copy of zero.py",
)


def notebook(*sources: str, **more) -> str:
    cells = [{"cell_type": "code", "source": source, **more} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(params=["folder", "zip", "Canvas", "Moodle"])
def load(request, tmp_path):
    """Loads files that one learner handed in, in each of the ways in which they come."""

    def folder(files, top="") -> Path:
        for name, text in files.items():
            path = tmp_path / "class" / f"{top}{name}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "class"

    def by_canvas(files):
        for number, (name, text) in enumerate(files.items()):
            folder({f"doe_1_{100 + number}_{name}": text})
        (row,) = collecting.collect(folder({}))
        return collecting.load(row, TOPICS)

    def by_moodle(files):
        (row,) = collecting.collect(folder(files, "Jane_1_assignsubmission_file_/"))
        return collecting.load(row, TOPICS)

    def by_zip(files):
        (tmp_path / "ann.zip").write_bytes(packed(files))
        return submission.load(tmp_path / "ann.zip", TOPICS)

    kinds = {"folder": lambda files: submission.load(folder(files), TOPICS), "zip": by_zip}
    return (kinds | {"Canvas": by_canvas, "Moodle": by_moodle})[request.param]


def units(found) -> dict[str, tuple[str, str | None]]:
    return {unit.label: (unit.source, unit.module) for unit in found.units}


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("solved_first", [False, True])
def test_the_one_that_is_written_counts_whatever_its_name(copy, solved_first, load):
    """Kills: nothing for a learner whose solved copy stands beside the stub that was downloaded before it."""
    pair = {"zero.py": STUB, copy: SOLVED} if not solved_first else {copy: STUB, "zero.py": SOLVED}
    solved = "zero.py" if solved_first else copy
    found = load(pair)
    assert units(found) == {"zero.py": (SOLVED, "zero")}
    (sentence,) = found.problems
    assert sentence.endswith(f" is not written yet and {solved} is: {solved} counts")


@pytest.mark.parametrize("copy", COPIES)
def test_two_that_are_both_written_are_not_chosen_from(copy, load, request):
    """Kills: a guess. Only Canvas says which one is the newer."""
    files = {"zero.py": SOLVED, copy: OTHER}
    if request.node.callspec.params["load"] == "Canvas" and copy == "zero-1.py":
        found = load(files)
        assert units(found) == {"zero.py": (OTHER, "zero")}
        assert found.problems == ("zero.py was handed in again as zero-1.py: the newer one counts",)
        return
    with pytest.raises(Unreadable, match="are versions of one file and differ: hand in one of them"):
        load(files)


def test_a_copy_that_is_the_same_is_not_worth_a_word(load):
    found = load({"zero.py": SOLVED, "zero (1).py": SOLVED, "zero copy.py": SOLVED.replace("16 /", "16  /")})
    assert units(found) == {"zero.py": (SOLVED, "zero")}
    assert found.problems == ()


def test_a_copy_without_its_original_stands_for_the_topic(load):
    found = load({"zero (1).py": SOLVED, "ring.py": "A = 1\n"})
    assert units(found) == {"ring.py": ("A = 1\n", "ring"), "zero.py": (SOLVED, "zero")}
    assert found.problems == ("zero (1).py is taken for zero.py",)


def test_of_three_the_only_written_one_counts(load):
    found = load({"zero.py": STUB, "zero (1).py": STUB + "\n# new\n", "zero (2).py": SOLVED})
    assert units(found) == {"zero.py": (SOLVED, "zero")}
    assert len(found.problems) == 2


@pytest.mark.parametrize("copy", ["lab (1).ipynb", "lab-Copy1.ipynb", "lab-1.ipynb", "Copy of lab.ipynb"])
def test_a_notebook_that_is_written_counts(copy, load):
    """Kills: the stub of a second notebook in place of the function that the first one solves."""
    helper = "def shown(x):\n    return x\n"
    stub, solved = (notebook(helper, source, "print(1)") for source in (STUB, SOLVED))
    found = load({"lab.ipynb": stub, copy: solved})
    assert [unit.source for unit in found.units] == [unit.source for unit in load({"lab.ipynb": solved}).units]
    assert found.problems == (f"lab.ipynb is not written yet and {copy} is: {copy} counts",)


def test_notebooks_that_differ_in_outputs_alone_are_the_same(load):
    found = load({"lab.ipynb": notebook(SOLVED), "lab (1).ipynb": notebook(SOLVED, outputs=[{"text": "9"}])})
    assert found.problems == ()
    assert len(found.units) == 1


@pytest.mark.parametrize("names", [("lab-1.ipynb", "lab-2.ipynb"), ("lab.ipynb", "lab (2).ipynb")])
def test_parts_of_a_series_are_no_versions(names, load):
    """Kills: losing the second notebook of two that share a helper."""
    helper = "def shown(x):\n    return x\n"
    parts = [f"def part_{n}():\n    return {n}\n\n\ndef more_{n}():\n    return {n}\n" for n in (1, 2)]
    found = load({name: notebook(helper, part) for name, part in zip(names, parts, strict=True)})
    assert (len(found.units), found.problems) == (4, ())


def test_modules_that_are_numbered_and_share_nothing_are_no_versions(load):
    parts = [f"def part_{n}():\n    return {n}\n" for n in (1, 2)]
    found = load({"ring.py": "", "answers-1.py": parts[0], "answers-2.py": parts[1]})
    assert (len(found.units), found.problems) == (3, ())


def test_what_somebody_has_worked_on_is_no_stub(load):
    with pytest.raises(Unreadable, match="are versions of one file and differ"):
        load({"zero.py": STUB.replace("ranks + 1", "ranks"), "zero (1).py": SOLVED})


@pytest.mark.parametrize(
    "lab", sorted(path.relative_to(ROOT / "labs").as_posix() for path in (ROOT / "labs").glob("ch*/[!_]*.py"))
)
def test_every_lab_of_the_course_is_a_stub_beside_its_solution(lab):
    """Kills: a program to be corrected, which is written from the start, that keeps the solved copy from counting."""
    stub, solved = ((ROOT / folder / lab).read_bytes() for folder in ("labs", "solutions"))
    lab = Path(lab).name
    copy = lab.replace(".py", " (1).py")
    files, notes = settle([Version(lab, lab, stub), Version(copy, copy, solved)], [lab.removesuffix(".py")])
    assert files == {lab: solved}
    assert notes == [f"{lab} is not written yet and {copy} is: {copy} counts"]


def test_what_cannot_be_parsed_is_not_chosen_from(load):
    with pytest.raises(Unreadable, match="are versions of one file and differ"):
        load({"zero.py": SOLVED, "zero (1).py": SOLVED + "\nreturn )\n"})


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"x/zero.py": SOLVED, "x/labs/zero.py": STUB}, "labs/zero.py is not written yet and x/zero.py is"),
        ({"x/zero.py": STUB, "x/labs/zero.py": SOLVED}, "x/zero.py is not written yet and x/labs/zero.py is"),
        (
            {"x/zero.py": OTHER, "x/labs/zero.py": SOLVED},
            "x/zero.py has the same name as x/labs/zero.py, which counts",
        ),
    ],
)
def test_the_same_file_in_two_places(files, sentence, tmp_path):
    """Kills: a stub in ``labs`` that wins over the solved file beside it, without a word."""
    (tmp_path / "ann.zip").write_bytes(packed(files))
    found = submission.load(tmp_path / "ann.zip", TOPICS)
    assert units(found) == {"zero.py": (SOLVED, "zero")}
    assert len(found.problems) == 1
    assert sentence in found.problems[0]


def test_a_stub_beside_a_solved_archive(tmp_path):
    """Kills: the empty labs of the first week beside the archive that holds the work."""
    (tmp_path / "zero.py").write_text(STUB)
    (tmp_path / "work.zip").write_bytes(packed({"labs/zero.py": SOLVED, "labs/ring.py": "A = 1"}))
    found = submission.load(tmp_path, TOPICS)
    assert {label: source for label, (source, _) in units(found).items()} == {"ring.py": "A = 1", "zero.py": SOLVED}
    assert found.problems == ("zero.py is not written yet and work.zip/labs/zero.py is: work.zip/labs/zero.py counts",)


def test_no_file_is_lost():
    """Every file without a version of its own counts as it is."""
    names = ("a.py", "b (1).py", "c-2.py", "c-3.py", "d.ipynb", "copy of e.py", "zero-4.py")
    files, notes = settle([Version(name, name, name.encode()) for name in names], TOPICS)
    assert files == {name: name.encode() for name in names[:-1]} | {"zero.py": b"zero-4.py"}
    assert notes == ["zero-4.py is taken for zero.py"]
