"""What a change can break, in stages: ``make test``. The rest is ``make proof`` (:mod:`tools.gates.proof`).

A stage has a few lanes that run in parallel, and a lane is a sequence of steps. Every step runs, whatever failed before
it, and prints one line. Its output is shown if it failed; the slowest tests of a pytest run are always shown. The last
line counts steps and tests together.

Some tests judge what a clock says, and a busy machine can make a right program late. So the few tests that fail in a
parallel run are run once more, one at a time, and the second result counts; their names are printed either way.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankzero.facts.chapters import CHAPTERS
from tools import execute
from tools.common import CACHE, HTML, ROOT, kernel_environment, say

REPORTS = CACHE / "reports"
SLOWEST = 20
#: Seconds before its deadline at which a step is asked to end.
LAST = 10.0
#: More failures than this are not noise: they are not run again.
FEW = 12
#: How processes share tests: by groups, in the order set by ``tests/conftest.py``, longest first.
SHARED = ("--dist", "loadgroup", "--no-loadscope-reorder")
PYTEST = ("-m", "pytest", "-rsfE", f"--durations={SLOWEST}")
#: Tests for ``-m``: those of ``make proof`` are left out.
UNIT, BROWSER = "not browser and not proof", "browser and not proof"
NBVAL = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout", str(execute.CELL_TIMEOUT))


@dataclass(frozen=True)
class Count:
    """Tests or steps, counted by result."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass(frozen=True)
class Step:
    """One command of the environment's Python.

    Attributes:
        name: the first words of its line.
        command: the arguments of Python.
        report: the file to which pytest writes its counts.
        settings: environment variables, in addition to the user's.
        until: its deadline on the monotonic clock: a step that has not finished by then is stopped, and what it has
            found so far counts.
        parallel: its tests disturb one another, so the few that fail are run again, one at a time.
    """

    name: str
    command: tuple[str, ...]
    report: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    until: float | None = None
    parallel: bool = False


Lane = Sequence[Step]


def report_of(name: str) -> Path:
    """The file to which a pytest run writes its counts."""
    return REPORTS / f"{name.replace(' ', '-')}.xml"


def tests(name: str, *arguments: str, **settings: str) -> Step:
    """A run of pytest."""
    report = report_of(name)
    return Step(name, (*PYTEST, f"--junitxml={report}", *arguments), report, settings)


def again(workers: int, *executed: Path) -> Step:
    """A second run of executed notebooks, which compares its outputs with those of the first."""
    arguments = (*NBVAL, "-p", "tools.compare_images", "-n", str(workers), "--dist", "loadfile", *map(str, executed))
    return tests("notebooks again", *arguments, **kernel_environment())


LINT = Step("lint", ("-m", "ruff", "check", "--quiet", "."))
FORMAT = Step("format", ("-m", "ruff", "format", "--quiet", "--check", "."))
TYPES = Step("types", ("-m", "pyrefly", "check", "--output-format", "min-text"))
STUBS = Step("stubs", ("-m", "tools.stubs", "--check"))
INSTALL_CELLS = Step("install cells", ("-m", "tools.install_cells", "--check"))


def marked(mark: str, root: Path = ROOT) -> list[str]:
    """The test modules that name a mark: collecting all the others would take most of a minute."""
    named = re.compile(rf"\bmark\.{mark}\b")
    found = (path for path in sorted((root / "tests").rglob("test_*.py")) if named.search(path.read_text("utf-8")))
    return [path.relative_to(root).as_posix() for path in found]


def browser(name: str, expression: str, *more: str) -> Step:
    """Tests that open the built book, and those of ``more`` modules."""
    modules = sorted({*marked("browser"), *more})
    chosen = ("-n", "2", "--dist", "loadgroup", "-m", expression, *modules)
    return replace(tests(name, *chosen, RANKZERO_HTML=str(HTML)), parallel=True)


#: Executes the notebooks and builds the book; a second run compares with the copies that were executed.
BOOK = Step("book", ("-m", "tools.build_book"))
EXECUTED = HTML.with_name("executed") / "notebooks"


#: The chapters whose pages are executed a second time: of each part one that takes little. The capstone is one page.
TWICE = (3, 6, 10, 14)


def second_runs() -> list[Path]:
    """The executed copies of one page of each part."""
    return [EXECUTED / f"{chapter.page}.ipynb" for chapter in CHAPTERS if chapter.number in TWICE]


def stages() -> list[tuple[Lane, ...]]:
    """One stage: the tests, the book and what reads it, and the steps that never wait.

    Tests, notebooks and browsers wait for ranks, servers and deadlines a third of their time, so they run side by side.
    """
    unit = replace(tests("unit tests", "-n", "3", *SHARED, "-m", UNIT, "tests"), parallel=True)
    book = (BOOK, browser("browser", BROWSER), again(execute.WORKERS, *second_runs()))
    return [((unit,), book, (LINT, FORMAT, STUBS, INSTALL_CELLS, TYPES))]


def counted(report: Path) -> Count:
    """The counts in a JUnit report; a missing report counts as one failure."""
    if not report.exists():
        return Count(failed=1)
    total = Count()
    for suite in ET.parse(report).getroot().iter("testsuite"):
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        total += Count(int(suite.get("tests", 0)) - failed - skipped, failed, skipped)
    return total


def skips_and_slowest(output: str) -> str:
    """The lines to show of a successful pytest run: the skipped tests, with the reason, and the slowest ones."""
    lines = output.splitlines()
    slow = [line for line in lines if re.match(r"[\d.]+s (call|setup|teardown) ", line)]
    return "\n".join([*(line for line in lines if line.startswith("SKIPPED")), *slow])


def outcome(step: Step) -> tuple[int | None, str]:
    """Run a step's command; returns its exit status, None if it was killed at its deadline, and its output."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen(
            [sys.executable, *step.command],
            cwd=ROOT,
            env={**os.environ, **step.settings},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=step.until is not None,  # a process group, to be killed as a whole
        )
        try:
            status: int | None = process.wait(step.until and max(0, step.until - LAST - time.monotonic()))
        except subprocess.TimeoutExpired:
            stop(process)
            status = None
        said.seek(0)
        return status, said.read()


def stop(process: subprocess.Popen[Any]) -> None:
    """Ask a step to end, so that pytest reports what it has found, and then end it with all that it started.

    It is asked each second: an interrupt that arrives in a callback of Hypothesis is lost.
    """
    end = time.monotonic() + LAST
    while process.poll() is None and time.monotonic() < end:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def alone(step: Step) -> Step:
    """The tests of a step that failed just now, one at a time."""
    report = report_of(f"{step.name} again")
    command = (*step.command, "-n", "0", "--last-failed", "--last-failed-no-failures", "none", f"--junitxml={report}")
    return replace(step, name=f"{step.name} again, one at a time", command=command, report=report, parallel=False)


def perform(step: Step) -> Count:
    """Run one step and print its result."""
    count = performed(step)
    if not (step.parallel and 0 < count.failed <= FEW):
        return count
    second = perform(alone(step))
    judged = second.passed + second.failed + second.skipped == count.failed
    return Count(count.passed + second.passed, second.failed, count.skipped + second.skipped) if judged else count


def performed(step: Step) -> Count:
    """Run one step once and print its result."""
    if step.report:
        step.report.unlink(missing_ok=True)
    began = time.monotonic()
    if step.until is not None and step.until < began:
        say(f"{step.name}: left out, no time was left")
        return Count(skipped=1)
    status, output = outcome(step)
    if status is None:
        found = counted(step.report) if step.report and step.report.exists() else Count()
        say(f"{step.name}: its time is up: {found} ({time.monotonic() - began:.1f} s)")
        return found + Count(skipped=1)
    count = counted(step.report) if step.report else Count(passed=not status, failed=bool(status))
    if status and not count.failed:
        count += Count(failed=1)
    took = f"{step.name}: {count}" if step.report else f"{step.name}: {'failed' if status else 'passed'}"
    said = output if status else skips_and_slowest(output) if step.report else ""
    say(f"{took} ({time.monotonic() - began:.1f} s)" + (f"\n{said.rstrip()}" if said.strip() else ""))
    return count


def run(chosen: Sequence[Sequence[Lane]]) -> Count:
    """Run the stages in order, the lanes of each in parallel, and print the totals."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    total = Count()
    for lanes in chosen:
        with ThreadPoolExecutor(len(lanes)) as pool:
            total = sum(pool.map(lambda lane: sum(map(perform, lane), start=Count()), lanes), start=total)
    say(str(total))
    return total


if __name__ == "__main__":
    sys.exit(1 if run(stages()).failed else 0)
