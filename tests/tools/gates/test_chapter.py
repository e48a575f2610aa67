"""``make chapter N=07``: what it takes to belong to a chapter."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from rankzero.facts.chapters import CHAPTERS
from tools.common import ROOT
from tools.gates import chapter

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(("name", "number"), [("7", 7), ("07", 7), ("15", 15), ("cap", 15), ("1", 1)])
def test_a_chapter_is_found_by_number_and_prefix(name, number):
    assert chapter.named(name).number == number


@pytest.mark.parametrize("name", ["", "0", "16", "ch07", "07-pipeline-expert", "007"])
def test_a_wrong_chapter_is_one_sentence(name, capsys):
    assert chapter.main([name] if name else []) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"N must be the number of a chapter, 1 to 15, or cap for the capstone, got {name!r}: make chapter N=07\n"
    )


def test_a_chapter_without_tests_runs_no_others(monkeypatch, capsys):
    """Kills a pytest without a folder, which would run all tests of the course."""
    monkeypatch.setattr(chapter, "own_tests", lambda one: [])
    assert chapter.main(["7"]) == 1
    assert capsys.readouterr().err == "chapter 7 must have tests of its own, in tests/solutions/ch07\n"


@functools.cache
def course_files() -> list[str]:
    """All Python files and notebooks of the course, but what is generated or brought from elsewhere."""
    folders = [path for path in ROOT.iterdir() if path.name[0] != "." and path.name not in ("labs", "_build")]
    paths = [path.relative_to(ROOT) for folder in folders for path in folder.rglob("*")]
    return [path.as_posix() for path in paths if path.suffix in (".py", ".ipynb") and "node_modules" not in path.parts]


@pytest.mark.parametrize("one", CHAPTERS, ids=lambda one: one.package)
def test_every_file_that_bears_a_chapter_s_number_is_its_own(one):
    """Kills a list of folders in which one is forgotten: held against all paths of the course."""
    found = [ROOT / name for name in chapter.files(one)]
    bearing = re.compile(rf"(^|/){one.package}(/|\.py$)|^book/(.*/)?{one.number:02}-.*\.ipynb$")
    bear = set(filter(bearing.search, course_files()))
    apart = {"autograder/probes"}  # common to every page
    lost = [name for name in bear if not any(file in ((ROOT / name), *(ROOT / name).parents) for file in found)]
    assert [name for name in lost if Path(name).parent.as_posix() not in apart] == []


def test_a_chapter_has_its_lanes():
    """Form, types and tests in one; in the other the page, built and run once, run again, and opened."""
    tests, page = chapter.lanes(chapter.named("12"))
    assert [step.name for step in tests] == ["lint", "format", "types", "unit tests", "tests of every item", "demos"]
    steps = [["page 12-rl", "notebooks again", "browser"], ["page 12-rl-deeper", "notebooks again", "browser"]]
    assert [step.name for step in page] == [*steps[0], *steps[1]]
    html = Path(page[2].settings["RANKZERO_HTML"])
    assert str(html) in page[0].command
    assert str(html.with_name("executed") / "notebooks" / "12-rl.ipynb") in page[1].command


def test_a_deeper_page_has_steps_of_its_own(pytester):
    """Kills a browser step that opens the deeper page where only the chapter's own page is built, and the other way."""
    _, steps = chapter.lanes(chapter.named("07"))
    names = ["07-pipeline-expert", "07-pipeline-expert-deeper"]
    assert [step.name for step in steps if step.name.startswith("page ")] == [f"page {name}" for name in names]
    ids = [f"book/{names[0]}.html", f"book/deeper/{names[1]}.html"]
    source = "import pytest\n@pytest.mark.browser\n@pytest.mark.parametrize('one', [{!r}, {!r}])\n"
    for step, own in zip([step for step in steps if step.name == "browser"], ids, strict=True):
        pytester.makepyfile(source.format(*ids) + f"def test_it(one): assert one == {own!r}")
        chosen = step.command[step.command.index("-k") + 1]
        pytester.runpytest("-k", chosen).assert_outcomes(passed=1, deselected=1)


def test_tests_that_go_through_all_items_or_pages_are_found(tmp_path):
    """By the list that they take their parameters from."""
    texts = {
        "tests/test_pages.py": "@pytest.mark.parametrize('p', NOTEBOOKS)",
        "tests/bank/test_bank.py": "@pytest.mark.parametrize('p', bank.builds())",
        "tests/bank/ch07/test_own.py": "@pytest.mark.parametrize('p', bank.builds())",
        "tests/bank/test_one.py": "bank.builds()",
        "tests/bank/test_other.py": "@pytest.mark.parametrize('p', [1])",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert chapter.shared_tests(tmp_path) == ["tests/bank/test_bank.py", "tests/test_pages.py"]
    assert chapter.own_tests(chapter.named("7"), tmp_path) == ["tests/bank/ch07"]


def test_a_chapter_s_share_of_them_is_chosen_by_their_parameters(pytester):
    """Ids of items, names of pages and of packages, and no others; pytest itself chooses."""
    names = ["07-bubble", "3-07-bubble", "07-pipeline-expert.ipynb", "ch07", "bank.ch07"]
    others = ["17-bubble", "06-block", "1e07", "ch06", "cap-plan"]
    pytester.makepyfile(
        f"import pytest\n@pytest.mark.parametrize('one', {names + others})\ndef test_it(one): assert one in {names}"
    )
    done = pytester.runpytest("-k", chapter.selection(chapter.named("07")))
    done.assert_outcomes(passed=len(names), deselected=len(others))
