"""A release works anywhere: ``python -m tools.release.check`` (``make release-check``), or the pages of a chapter,
``python -m tools.release.check --pages 03`` (``make release-check N=03``).

It builds the distribution, installs the wheel into fresh environments of the oldest and the newest Python with what
Colab ships and nothing else, and runs each notebook alone in an empty folder, two side by side. What passed with the
same wheel, page and Python is not run again; ``make clean`` forgets it. Where pip finds no torch for a Python, pages
run there as far as they go without it, statement by statement.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import math
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankzero import __version__
from tools.common import CACHE, ROOT, fail, no_checkout, say
from tools.gates.check import Count
from tools.install_cells import EXTRAS
from tools.release import environments, pages, wheel
from tools.release.environments import COLAB, NEWEST, OLDEST, Interpreter
from tools.release.wheel import Broken

FOLDER = CACHE / "release"
WORKERS = 2
#: Minutes to build the distribution, to install an environment on a slow line, and for the command line of a Python.
BUILD, INSTALL, SHELL = 16, 16, 6
#: A function of plain Python, and the exercise whose points it earns.
ANSWER = "def message_time(message_bytes, bandwidth, latency=0.0):\n    return latency + message_bytes / bandwidth\n"
#: What the command line does without torch and without a checkout, and a word of what it prints.
COMMANDS = (
    (("-m", "demos"), "check_setup"),
    (("-m", "autograder", "--help"), "grade-class"),
    (("-m", "autograder", "grade", "answer.py", "--only", "02-message-time"), "4 of 4 points"),
)


@dataclass(frozen=True)
class Task:
    """A page on a Python; ``mark`` is the file that says that it passed."""

    page: Path
    interpreter: Interpreter
    mark: Path


def mark(page: Path, interpreter: Interpreter, built: Path) -> Path:
    """The file that says that a page passed: its name changes with the page, the wheel and Colab's versions."""
    state = wheel.fingerprint(built).encode() + page.read_bytes() + COLAB.read_bytes()
    return FOLDER / "passed" / f"{page.stem}-{interpreter.version}-{hashlib.sha256(state).hexdigest()[:12]}"


def minutes(tasks: Sequence[Task]) -> int:
    """Within how many minutes all is done."""
    left = [task for task in tasks if not task.mark.exists()]
    shells = {(task.interpreter.version, "") for task in tasks}
    made = shells | {(task.interpreter.version, pages.extra(task.page)) for task in left}
    rounds = math.ceil(len(left) / WORKERS)
    return math.ceil(len(shells) * SHELL + len(made) * INSTALL + rounds * pages.LIMIT / 60)


def environment(interpreter: Interpreter, extra: str, built: Path) -> Path:
    """The Python of an environment with the wheel; what was made from an earlier wheel is removed."""
    name = f"{interpreter.version}-{extra or 'core'}"
    limits = hashlib.sha256(COLAB.read_bytes()).hexdigest()[:6]
    folder = FOLDER / "environments" / f"{name}-{wheel.fingerprint(built)}-{limits}"
    for old in folder.parent.glob(f"{name}-*"):
        if old != folder:
            shutil.rmtree(old)
    return environments.make(interpreter, extra, built, folder)


def commands(python: Path) -> str | None:
    """What is wrong with the modules and the command line in an empty folder; None if nothing is."""
    until = time.monotonic() + 60 * SHELL
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "work")
        folder.mkdir()
        (folder / "answer.py").write_text(ANSWER, encoding="utf-8")
        extras = wheel.brought(extra for extra, _ in EXTRAS.values())
        every = (str(Path(__file__).with_name("imports.py")), *wheel.packages(), "--without", *extras)
        for command, word in ((every, "modules imported"), *COMMANDS):
            alone: dict[str, Any] = {"cwd": folder, "env": environments.settings(Path(home)), "check": False}
            try:
                done = subprocess.run(
                    [str(python), *command], capture_output=True, text=True, timeout=until - time.monotonic(), **alone
                )
            except subprocess.TimeoutExpired:
                return f"python {' '.join(command)}: it did not end, within {SHELL} minutes for all commands"
            if done.returncode or word not in done.stdout:
                return f"python {' '.join(command)}: {(done.stderr or done.stdout).strip()}"
    return None


async def perform(tasks: Sequence[Task], built: Path) -> Count:
    """Run what is left, two pages side by side; returns the counts."""
    room = asyncio.Semaphore(WORKERS)

    async def one(task: Task, python: Path) -> Count:
        async with room:
            told, failure = await pages.run(task.page, python, task.interpreter.torch)
        say(f"{task.page.stem}, Python {task.interpreter.version}: {failure or f'passed, {told}'}")
        if failure:
            return Count(failed=1)
        task.mark.parent.mkdir(parents=True, exist_ok=True)
        task.mark.write_text(told, encoding="utf-8")
        return Count(passed=1)

    left = [task for task in tasks if not task.mark.exists()]
    if before := len(tasks) - len(left):
        say(f"{before} of {len(tasks)} pages passed with this wheel before")
    made = {}
    for task in left:
        key = (task.interpreter, pages.extra(task.page))
        if key not in made:
            made[key] = environment(*key, built)
    count = sum(
        await asyncio.gather(*(one(task, made[task.interpreter, pages.extra(task.page)]) for task in left)), Count()
    )
    return count + Count(passed=before)


def interpreters(versions: Sequence[str]) -> list[Interpreter]:
    """The Pythons that are to be had; says which one is not, and which one has no torch."""
    found = []
    for version in versions:
        program = environments.program(version)
        if program is None:
            say(f"skipped: there is no Python {version} here (uv python install {version})")
            continue
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder, "bin", "python")
            subprocess.run([str(program), "-m", "venv", "--without-pip", folder], check=True, capture_output=True)
            torch = environments.has_torch(python)
        if not torch:
            say(f"Python {version}: pip finds no {environments.pinned_torch()}, pages run as far as they go without it")
        found.append(Interpreter(version, program, torch))
    return found


def tagged(tag: str, version: str, changes: str) -> None:
    """Check the tag of a release: it names the version, and the changes of that version have a date.

    Raises:
        Broken: it is not so.
    """
    if tag != f"v{version}":
        raise Broken(f"the tag {tag} must be v{version}, the version of rankzero/__init__.py")
    heading = re.search(rf"^## {re.escape(version)}(?: .*)?$", changes, re.MULTILINE)
    if not heading or not re.fullmatch(r"## \S+ \(\d{4}-\d\d-\d\d\)", heading[0]):
        found = repr(heading[0]) if heading else "none"
        raise Broken(f"CHANGELOG.md must have a section '## {version} (YYYY-MM-DD)' for the tag {tag}, got {found}")


def distribution(tag: str) -> Path:
    """Build the distribution and check it; returns the wheel.

    Raises:
        Broken: it is not what it should be.
    """
    if tag:
        tagged(tag, __version__, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    built = wheel.build(FOLDER / "dist")
    if built.name != f"rankzero-{__version__}-py3-none-any.whl":
        raise Broken(f"the wheel of version {__version__} is called {built.name}")
    if differ := wheel.difference(built):
        raise Broken(f"in the wheel or in the course, and not in both: {', '.join(differ)}")
    say(f"{built.name}: {built.stat().st_size / 1e6:.1f} MB, and beside it {next(built.parent.glob('*.tar.gz')).name}")
    return built


def run(arguments: argparse.Namespace) -> Count:
    """Build, install, and run the pages.

    Raises:
        Broken: the distribution or an environment cannot be made, or there is no Python to try it on.
        ValueError: there is no such chapter.
    """
    wanted = pages.chosen(arguments.pages)
    say(f"the distribution: at most {BUILD} minutes")
    found = interpreters(arguments.python)
    if not found:
        raise Broken(f"nothing was tried: there is no Python {' or '.join(arguments.python)} here")
    built = distribution(arguments.tag)
    count = Count(skipped=(len(arguments.python) - len(found)) * len(wanted))
    tasks = [Task(page, interpreter, mark(page, interpreter, built)) for interpreter in found for page in wanted]
    say(f"{len(tasks)} pages, and the command line: at most {minutes(tasks)} minutes")
    for interpreter in found:
        wrong = commands(environment(interpreter, "", built))
        say(f"command line, Python {interpreter.version}: {wrong or 'passed'}")
        count += Count(failed=1) if wrong else Count(passed=1)
    return count + asyncio.run(perform(tasks, built))


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.check", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pages", default="", metavar="N", help="the number of a chapter: only its pages")
    parser.add_argument("--python", nargs="+", default=[OLDEST, NEWEST], metavar="VERSION", help="as 3.13")
    parser.add_argument(
        "--tag", default="", help="the tag of the release: it names the version, whose changes have a date"
    )
    arguments = parser.parse_args(argv)
    if reason := no_checkout():
        return fail(reason)
    try:
        count = run(arguments)
    except (Broken, ValueError) as error:
        return fail(str(error))
    say(str(count))
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
