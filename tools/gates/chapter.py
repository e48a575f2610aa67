"""Everything that belongs to one chapter: ``python -m tools.gates.chapter 07`` (``make chapter N=07``).

Two lanes run in parallel. One checks lint and format of the chapter's files, and types, and runs its tests; the other
executes its page twice, builds it with only the opening page and opens it in the browser. Everything about other
chapters is left to ``make test``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from rankzero.facts.chapters import CHAPTERS, Chapter
from tools.common import HTML, ROOT, fail, pages_of
from tools.gates import check
from tools.gates.check import Lane, Step

ROOMS = ("solutions", "experiments", "autograder/bank", "demos")
#: Lists of all items, pages or chapters: a parametrized test module that names one of them covers the whole course.
OF_ALL = re.compile(r"\b(bank\.(items|builds|CHAPTERS)|notebooks\(\)|NOTEBOOKS|CHAPTERS)\b")
USAGE = "N must be the number of a chapter, 1 to {last}, or cap for the capstone, got {name!r}: make chapter N=07"


def named(name: str) -> Chapter:
    """The chapter with a number, ``"7"`` or ``"07"``, or with the prefix of its items, ``"cap"``.

    Raises:
        ValueError: there is none.
    """
    for chapter in CHAPTERS:
        if name in (chapter.prefix, str(chapter.number), f"{chapter.number:02}"):
            return chapter
    raise ValueError(USAGE.format(last=CHAPTERS[-1].number, name=name))


def files(chapter: Chapter) -> list[str]:
    """The folders and files that belong only to this chapter."""
    rooms = [ROOT / room / chapter.package for room in ROOMS]
    tests = [*(ROOT / "tests").rglob(chapter.package), *(ROOT / "tests").rglob(f"{chapter.package}.py")]
    found = [path.relative_to(ROOT).as_posix() for path in (*rooms, *tests, *pages_of(chapter)) if path.exists()]
    return sorted(found)


def own_tests(chapter: Chapter, root: Path = ROOT) -> list[str]:
    """The test folders named after the chapter."""
    return sorted(
        path.relative_to(root).as_posix() for path in (root / "tests").rglob(chapter.package) if path.is_dir()
    )


def shared_tests(root: Path = ROOT) -> list[str]:
    """The test modules that cover all items, pages or chapters."""
    tests = sorted((root / "tests").rglob("test_*.py"))
    found = (path for path in tests if not re.search(r"/ch\d\d/", path.as_posix()))
    texts = ((path, path.read_text(encoding="utf-8")) for path in found)
    return [path.relative_to(root).as_posix() for path, text in texts if "parametrize" in text and OF_ALL.search(text)]


def selection(chapter: Chapter) -> str:
    """An expression for pytest's ``-k`` that selects a chapter's tests by their parameters."""
    starts = (f"[{chapter.prefix}-", f"-{chapter.prefix}-", f"[{chapter.page}", chapter.package)
    return " or ".join(starts)


def of_chapter(name: str, modules: Iterable[str], chapters: Iterable[Chapter], *arguments: str) -> Step:
    """The tests of some chapters, from modules that cover all."""
    return check.tests(name, *arguments, "-k", " or ".join(map(selection, chapters)), *modules)


def unit_tests(chapter: Chapter) -> Iterator[Step]:
    """The chapter's own tests, and its share of those that cover all chapters."""
    quiet = ("-n", "0", "-m", check.UNIT)
    yield check.tests("unit tests", *quiet, *own_tests(chapter))
    yield of_chapter("tests of every item", shared_tests(), [chapter], *quiet)
    if found := sorted(path.stem for path in (ROOT / "demos" / chapter.package).glob("[a-z]*.py")):
        select = " or ".join(f"[{name}{end}" for name in found for end in ("]", "-"))
        yield check.tests("demos", *quiet, "-k", select, "tests/demos/test_demos.py")


def page_steps(page: Path) -> Iterator[Step]:
    """Build a page, execute it a second time, and open it in the browser."""
    html = HTML.parent / "pages" / page.stem / "html"
    build = ("-m", "tools.build_book", "--page", page.relative_to(ROOT).as_posix(), "--output", str(html))
    yield Step(f"page {page.stem}", build)
    yield check.again(0, html.with_name("executed") / "notebooks" / page.name)
    only = f"{page.stem} and not {page.stem}-deeper"  # the name of a chapter's page begins that of its deeper page
    yield check.tests("browser", "-n", "0", "-m", "browser", "-k", only, "tests/book", RANKZERO_HTML=str(html))


def lanes(chapter: Chapter) -> list[Lane]:
    """The two lanes of a chapter."""
    own = files(chapter)
    form = [
        Step("lint", ("-m", "ruff", "check", "--quiet", *own)),
        Step("format", ("-m", "ruff", "format", "--quiet", "--check", *own)),
    ]
    of_pages = [step for page in pages_of(chapter) for step in page_steps(page)]
    return [[*form, check.TYPES, *unit_tests(chapter)], of_pages]


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    try:
        chapter = named(arguments[0] if arguments else "")
    except ValueError as error:
        return fail(str(error))
    if not own_tests(chapter):  # pytest without a folder would run all tests
        return fail(f"chapter {chapter.number} must have tests of its own, in tests/solutions/{chapter.package}")
    return 1 if check.run([lanes(chapter)]).failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
