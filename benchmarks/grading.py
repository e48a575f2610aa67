"""How long grading one submission takes: ``python -m benchmarks.grading``.

The reference's topic modules are handed in as a folder and graded inside a running grader, with every layer that works:

- every closed-form function and class, against the bare start of a sandbox (an interpreter that does nothing), beside
  what the functions themselves take for the same cases, and the most memory of a process with a learner's code;
- every item with tensors or ranks, against ``python -c "import torch"``;
- the start of the command line.

Medians of one run on one machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from autograder import bank, closure
from autograder.items import Build, Case
from autograder.marking import probing, values
from autograder.running.exam import Exam
from autograder.running.judging import judge
from autograder.sandbox import Sandbox, child
from autograder.submission import load
from benchmarks._rows import Row, arguments, finish

ROOT = Path(__file__).parents[1]
#: What is aimed at: closed forms over a bare sandbox start, tensors and worlds over an import of torch for each child
#: that is needed, MiB of a closed-form child, and seconds for the command line.
MOST_RATIO, MOST_IMPORTS, MOST_MIB, MOST_START = 4.0, 1.2, 60.0, 0.2


def timed(action: Callable[[], object]) -> float:
    """Wall-clock time of an action, seconds."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def medians(repeats: int, *actions: Callable[[], object]) -> list[float]:
    """Median time of each action, seconds. They take turns, so that a noisy moment meets all of them."""
    laps = [[timed(action) for action in actions] for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*laps, strict=True)]


def bare_start(sandbox: Sandbox) -> Callable[[], object]:
    """Starts the interpreter in the sandbox, where it does nothing."""
    launch = sandbox.launch()
    assert launch.argv[-1].endswith(child().name)
    argv = [*launch.argv[:-1], "-c", "pass"]
    return lambda: subprocess.run(argv, env=dict(launch.env), check=True, stdin=subprocess.DEVNULL)


def folder_of(items: Sequence[Build], folder: Path) -> Path:
    """The reference's modules of ``items``, and those that they import, as a learner's folder."""
    folder.mkdir()
    for name, file in closure.modules(f"solutions.{item.home}" for item in items).items():
        if name.startswith("solutions.") and file.name != "__init__.py":
            shutil.copy(file, folder)
    return folder


def asked(exam: Exam) -> list[tuple[Build, Case]]:
    """All that a submission is asked: the public cases and the hidden ones."""
    return [(item, case) for item in exam.items for case in (*item.cases, *exam.sheet(item).cases)]


def alone(exam: Exam) -> float:
    """What the functions take for all that is asked, without any grader: seconds."""
    return sum(_call(item, case) for item, case in asked(exam))


def _call(item: Build, case: Case) -> float:
    program = probing.driven(item, item.solution())
    args, kwargs = values.fresh(list(case.args)), values.fresh(dict(case.kwargs))

    def call() -> Any:
        made = program(*args, **kwargs)
        return [getattr(made, name.rpartition(".")[2])(*given) for name, given in case.calls if given is not None]

    try:
        return timed(call)
    except Exception:  # a case that must raise
        return 0.0


@contextlib.contextmanager
def most_memory(program: str, pause: float = 0.005) -> Iterator[list[float]]:
    """The most memory that a process below this one with ``program`` in its command had at once, MiB, in a list.

    It is read from ``/proc`` every few milliseconds: ``getrusage`` counts a child's parent too, before it becomes the
    program.
    """
    found, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(pause):
            for below in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error, OSError, StopIteration):
                    if any(part.endswith(program) for part in below.cmdline()):
                        lines = Path(f"/proc/{below.pid}/status").read_text(encoding="utf-8").splitlines()
                        most = next(line for line in lines if line.startswith("VmHWM:"))
                        found[0] = max(found[0], int(most.split()[1]) / 1024)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def closed_forms(folder: Path, sandbox: Sandbox, repeats: int) -> dict[str, Any]:
    """One submission with every closed-form item."""
    items = [item for item in bank.builds() if item.grade in ("call", "calls")]
    with Exam(items, b"benchmark") as exam:
        path = folder_of(items, folder)
        judge(load(path), exam, sandbox)  # draws the papers, as the first of a class does
        with most_memory(child().name) as largest:
            grading = judge(load(path), exam, sandbox)
        actions = bare_start(sandbox), lambda: judge(load(path), exam, sandbox), lambda: alone(exam)
        start, graded, functions = medians(repeats, *actions)
        cases = len(asked(exam))
    return {
        "items": len(items),
        "cases": cases,
        "all right": all(mark.state == "right" for mark in grading.marks),
        "bare sandbox start, ms": round(1e3 * start, 1),
        "grading, ms": round(1e3 * graded, 1),
        "the functions alone, ms": round(1e3 * functions, 1),
        "ratio": round(graded / start, 2),
        "ratio aimed at": MOST_RATIO,
        "ratio without the functions": round((graded - functions) / start, 2),
        "grader's time for each case, us": round(1e6 * (graded - functions - start) / cases),
        "largest child, MiB": round(largest[0], 1),
        "MiB aimed at": MOST_MIB,
    }


def tensors(folder: Path, sandbox: Sandbox) -> dict[str, Any]:
    """One submission with every item that needs torch, one child for each rank."""
    items = [item for item in bank.builds() if item.grade not in ("call", "calls")]
    torch = [sys.executable, "-c", "import torch"]
    with Exam(items, b"benchmark") as exam:
        path = folder_of(items, folder)
        first = judge(load(path), exam, sandbox)
        children = max(len(case.args) for item in items if item.grade == "world" for case in exam.sheet(item).cases)
        imported, graded = medians(
            3, lambda: subprocess.run(torch, check=True), lambda: judge(load(path), exam, sandbox)
        )
        cases = len(asked(exam))
    return {
        "items": len(items),
        "cases": cases,
        "all right": all(mark.state == "right" for mark in first.marks),
        "children": children,
        "import torch, s": round(imported, 2),
        "grading, s": round(graded, 2),
        "imports for each child": round(graded / imported / children, 2),
        "imports aimed at": MOST_IMPORTS,
    }


def command_line() -> None:
    """One start of the command line, with compiled modules in Python's cache, as on anybody's machine."""
    argv = [sys.executable, "-m", "autograder", "list"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(argv, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def rows(plain: dict[str, Any], heavy: dict[str, Any], line: float) -> list[Row]:
    """One submission without tensors and one with, and the command line."""
    share = plain["the functions alone, ms"] / plain["grading, ms"]
    found = [
        Row(
            f"one submission, {plain['items']} functions of plain Python, {plain['cases']:,} cases, in the sandbox",
            *(plain["grading, ms"], "ms", "a bare interpreter in the same sandbox", plain["bare sandbox start, ms"]),
            fair="No grader that isolates can take less than one start; they take turns.",
            most=MOST_RATIO,
            goal="ratio",
            missed_by=f"The functions alone, without a sandbox, take {share:.0%} of it.",
        ),
        Row(
            "memory of the largest process with a learner's code",
            *(plain["largest child, MiB"], "MiB"),
            fair="The most that it had at once, as Linux tells of a process.",
            most=MOST_MIB,
        ),
    ]
    if heavy:
        children, imported = heavy["children"], heavy["import torch, s"]
        found.append(
            Row(
                f"one submission, {heavy['items']} functions with tensors or ranks, for each of {children} processes",
                *(round(heavy["grading, s"] / children, 2), "s", "one import of torch", imported),
                fair="Each process has to import torch once; what is above 1 is the grader and the functions.",
                most=MOST_IMPORTS,
                goal="ratio",
            )
        )
    start = Row(
        "start of the command line (`python -m autograder list`)",
        *(round(line, 3), "s"),
        most=MOST_START,
        missed_by="Nearly all of it is importing modules: of the standard library, the grader and the bank.",
    )
    return [*found, start]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--sandbox", choices=("best", "none"), default="best")
    parser.add_argument("--plain", action="store_true", help="closed forms alone")
    options = parser.parse_args(argv)
    sandbox = Sandbox.measure(options.sandbox)
    with tempfile.TemporaryDirectory() as folder:
        plain = closed_forms(Path(folder, "plain"), sandbox, options.repeats)
        heavy = {} if options.plain else tensors(Path(folder, "tensors"), sandbox)
    (line,) = medians(7, command_line)
    start = {"command line, ms": round(1e3 * line, 1), "command line aimed at, ms": 1e3 * MOST_START}
    row = {"sandbox": sandbox.line, "closed forms": plain, "tensors and worlds": heavy, "start": start}
    print(json.dumps(row, indent=1))
    return finish(rows(plain, heavy, line), options)


if __name__ == "__main__":
    sys.exit(main())
