"""Checks what a change touched, in a minute and a half: ``python -m tools.gates.quick`` (``make quick``).

A change is what differs from the last commit, in tracked and in new files; if nothing does, it is the last commit. Its
tests are those that mirror a changed module and those that import it, the nearest first, as long as there is time. What
is left out is printed. pytest-testmon would choose by the coverage of an earlier run: a fresh clone has none, and it
sees neither data and scripts nor what runs in other processes.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.closure import imported
from rankzero.facts.chapters import CHAPTERS, Chapter
from tools.common import ROOT, fail, no_checkout, say
from tools.gates import chapter, check
from tools.gates.check import Lane
from tools.gates.deadline import REASON

SECONDS = 90
#: No test starts in the last seconds before the end, and no more test modules are run than there is time for.
RESERVE, MOST = 15, 40
SHOWN = 60  # names in a line
ROOMS = ("rankzero", "solutions", "experiments", "autograder", "labs", "demos", "tools", "tests")
#: Strings that name a module, and names of files that hold data.
NAMED = re.compile(rf"[\"']((?:{'|'.join(ROOMS)})(?:\.\w+)+)[\"']|([\w-]+\.(?:json|txt|js|css|md|ipynb|toml|yml))\b")


def git(*arguments: str, root: Path = ROOT) -> list[str]:
    """The lines that git prints."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def changed(root: Path = ROOT) -> list[str]:
    """The files of the change, including removed ones."""
    here = {
        *git("diff", "--name-only", "HEAD", root=root),
        *git("ls-files", "--others", "--exclude-standard", root=root),
    }
    return sorted(here or git("show", "--format=", "--name-only", "-m", "--first-parent", "HEAD", root=root))


def module(file: str) -> str:
    """How others refer to a file: the dotted name of a module of the course, the file name of anything else."""
    path = Path(file)
    if path.suffix != ".py" or path.parts[0] not in ROOMS:
        return path.name
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def uses(root: Path = ROOT) -> dict[str, set[str]]:
    """For each Python file of the course, the modules that it imports, and those and the files that it names."""
    result: dict[str, set[str]] = {}
    for path in sorted(path for room in ROOMS for path in (root / room).rglob("*.py")):
        file, source = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        package = module(file) if path.name == "__init__.py" else module(file).rpartition(".")[0]
        result[file] = {name for names in NAMED.findall(source) for name in names if name}
        with contextlib.suppress(SyntaxError):  # the linter reports it
            result[file] |= set(imported(source, package))
    return result


def _is_test(file: str) -> bool:
    return file.startswith("tests/") and Path(file).name.startswith("test_")


def mirrors(file: str, changed: str) -> bool:
    """Whether a test module is in the test folder that mirrors the folder of a changed module."""
    return _is_test(file) and changed.endswith(".py") and Path(file).parent == Path("tests") / Path(changed).parent


def nearest(change: Sequence[str], graph: Mapping[str, set[str]]) -> list[str]:
    """The test modules that a change touches: changed ones and mirrors, then its importers, the nearest first."""
    near = dict.fromkeys(file for file in change if _is_test(file) and file in graph)
    beside = [(one, file) for one in change for file in sorted(graph) if mirrors(file, one)]
    near |= dict.fromkeys(file for one, file in beside if Path(file).stem == f"test_{Path(one).stem}")
    wanted = {module(file) for file in change}
    seen: set[str] = set()
    while wanted - seen:
        seen |= wanted
        users = [file for file in sorted(graph) if graph[file] & wanted]
        near |= dict.fromkeys(filter(_is_test, users))
        near |= dict.fromkeys(file for _, file in beside)  # after those that import the change itself
        wanted = {module(file) for file in users} - seen
    return list(near)


def by_room(tests: Sequence[str]) -> list[str]:
    """The same, room by room: pytest forgets a folder's fixtures when it comes back to it from another one."""
    rooms = list(dict.fromkeys(_room(file) for file in tests))
    return sorted(tests, key=lambda file: (_room(file) == "", rooms.index(_room(file))))


def _room(file: str) -> str:
    """The folder below ``tests`` that holds a test; empty for those in ``tests`` itself."""
    return "".join(Path(file).parts[1:2]) if len(Path(file).parts) > 2 else ""


def touched_chapters(change: Iterable[str]) -> list[Chapter]:
    """The chapters in whose folders or pages something changed."""
    text = "\n".join(change)
    return [
        one for one in CHAPTERS if re.search(rf"/{one.package}[/.]|^book/(.*/)?{one.number:02}-", text, re.MULTILINE)
    ]


def stages(change: Sequence[str], tests: Sequence[str], end: float) -> list[tuple[Lane, ...]]:
    """The stages, all of which end at ``end``: lint, format, types and the texts of the pages, then the tests."""
    settings = {"RANKZERO_DEADLINE": str(time.time() + end - time.monotonic() - RESERVE)}
    timed = ("--dist", "load", "-p", "tools.gates.deadline", "-m", check.UNIT)
    form = [check.LINT, check.FORMAT, check.TYPES, check.STUBS, check.INSTALL_CELLS]
    if any(file.startswith("book/") for file in change):
        form.append(check.tests("texts of the pages", "-n", "0", "tests/test_notebooks.py", "tests/test_numbers.py"))
    proofs = []
    if tests:
        proofs.append(check.tests("tests", "-n", "2", *timed, *by_room(tests), **settings))
    if chapters := touched_chapters(change):
        rooms = ("tests/autograder/bank/", "tests/tools/", "tests/test_numbers.py")
        modules = [file for file in chapter.shared_tests() if file.startswith(rooms)]
        words = " or ".join(map(chapter.selection, chapters))
        proofs.append(check.tests("tests of every item", "-n", "2", *timed, "-k", words, *modules, **settings))
    return [([replace(step, until=end) for step in lane],) for lane in (form, proofs) if lane]


def unfinished(report: Path) -> list[str]:
    """The test modules of a run in which tests were left out for lack of time."""
    if not report.exists():
        return []
    cases = ET.parse(report).getroot().iter("testcase")
    late = [case for case in cases if any(REASON in str(skip.get("message")) for skip in case.iter("skipped"))]
    return sorted({str(one.get("classname")) for one in late})


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def main() -> int:
    """The command line; returns the exit status."""
    if reason := no_checkout():
        return fail(reason)
    end = time.monotonic() + SECONDS
    reports = [check.report_of(step) for step in ("tests", "tests of every item")]
    for report in reports:  # what an earlier run tried says nothing of this change
        report.unlink(missing_ok=True)
    change = changed()
    say(f"changed: {listed(change)}")
    near = nearest(change, uses())
    total = check.run(stages(change, near[:MOST], end))
    late = [name for report in reports for name in unfinished(report)]
    say(f"tests of the change: {listed(near[:MOST]) or 'none'}")
    if left := [*late, *near[MOST:]]:
        say(f"left out for lack of time: {listed(left)}")
    ran = any(report.exists() for report in reports)
    if near and not ran:
        say("the tests did not end in time, so this run proves nothing about the change: run them one by one")
    say("always left out: notebooks, book, browser (make chapter N=07), and what the change does not touch (make test)")
    return 1 if total.failed or (near and not ran) else 0


if __name__ == "__main__":
    sys.exit(main())
