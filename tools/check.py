"""Everything that must hold, one step after another: ``python -m tools.check`` (``make test``).

Every step runs, whatever failed before it, and prints one line; what it said is shown when it failed. The closing line
counts steps and tests together.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import execute
from tools.common import CACHE, ROOT, kernel_environment, say

REPORTS = CACHE / "reports"
PYTEST = ("-m", "pytest", "-rs")
NBVAL = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout", str(execute.CELL_TIMEOUT))


@dataclass(frozen=True)
class Count:
    """Tests, or steps, by how they ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass(frozen=True)
class Step:
    """One command of the environment's Python. ``report`` is the file where a run of pytest leaves its counts."""

    name: str
    command: tuple[str, ...]
    report: Path | None = None


def tests(name: str, *arguments: str) -> Step:
    """A run of pytest."""
    report = REPORTS / f"{name.replace(' ', '-')}.xml"
    return Step(name, (*PYTEST, f"--junitxml={report}", *arguments), report)


def steps() -> list[Step]:
    """The steps, cheap ones first; the book is built before what reads it."""
    executed = execute.folder() / "executed"
    return [
        Step("lint", ("-m", "ruff", "check", "--quiet", ".")),
        Step("format", ("-m", "ruff", "format", "--quiet", "--check", ".")),
        Step("types", ("-m", "mypy")),
        Step("stubs", ("-m", "tools.stubs", "--check")),
        Step("install cells", ("-m", "tools.install_cells", "--check")),
        tests("unit tests", "-n", "2", "--dist", "loadgroup", "-m", "not browser", "tests"),
        Step("book", ("-m", "tools.build_book")),
        tests("notebooks again", *NBVAL, "-p", "tools.compare_images", "-n", "2", "--dist", "loadfile", str(executed)),
        tests("browser", "-n", "2", "-m", "browser", "tests"),
    ]


def counted(report: Path) -> Count:
    """The counts of a JUnit report; one failure when there is none."""
    if not report.exists():
        return Count(failed=1)
    total = Count()
    for suite in ET.parse(report).getroot().iter("testsuite"):
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        total += Count(int(suite.get("tests", 0)) - failed - skipped, failed, skipped)
    return total


def skips(output: str) -> str:
    """The lines of pytest that say what was skipped, and why."""
    return "\n".join(line for line in output.splitlines() if line.startswith("SKIPPED"))


def perform(step: Step) -> Count:
    """Run one step and say how it went."""
    if step.report:
        step.report.unlink(missing_ok=True)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, *step.command],
        cwd=ROOT,
        env=kernel_environment() if "--nbval" in step.command else dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    count = counted(step.report) if step.report else Count(passed=not done.returncode, failed=bool(done.returncode))
    if done.returncode and not count.failed:
        count += Count(failed=1)
    took = f"{step.name}: {count}" if step.report else f"{step.name}: {'failed' if done.returncode else 'passed'}"
    said = done.stdout if done.returncode else skips(done.stdout)
    say(f"{took} ({time.monotonic() - began:.1f} s)" + (f"\n{said.rstrip()}" if said.strip() else ""))
    return count


def run(chosen: Sequence[Step]) -> Count:
    """Perform the steps and print the closing line."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    total = sum(map(perform, chosen), start=Count())
    say(str(total))
    return total


if __name__ == "__main__":
    sys.exit(1 if run(steps()).failed else 0)
