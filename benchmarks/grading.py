"""How long grading takes: ``python benchmarks/grading.py``.

One file with every closed-form function and class, graded inside a running grader, against the bare start of a sandbox
(``bwrap ... python -I -S -c pass``); and the start of the command line. Medians of one run on one machine.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from autograder import bank
from autograder.exam import Exam
from autograder.judge import judge
from autograder.sandbox import Sandbox, child
from autograder.submission import load

ROOT = Path(__file__).parents[1]
#: What is aimed at: grading over a bare sandbox start, and seconds for the command line.
MOST_RATIO, MOST_START = 3.0, 0.25


def medians(repeats: int, *actions: Callable[[], object]) -> list[float]:
    """Median wall-clock time of each action, seconds. They take turns, so that a noisy moment meets all of them."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, laps in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            laps.append(time.perf_counter() - start)
    return [statistics.median(laps) for laps in times]


def one_file(folder: Path, modules: Sequence[str]) -> Path:
    """All reference modules in one file, as a learner's single file."""
    file = folder / "everything.py"
    sources = [(ROOT / "solutions" / f"{module}.py").read_text(encoding="utf-8") for module in modules]
    future = "from __future__ import annotations"
    text = "\n".join([future, *(source.replace(future, "") for source in sources)])
    file.write_text(re.sub(r"^from \.\w* import .*$", "", text, flags=re.MULTILINE), encoding="utf-8")
    return file


def bare_start(sandbox: Sandbox) -> Callable[[], object]:
    """Starts the interpreter in the sandbox, where it does nothing."""
    launch = sandbox.launch()
    assert launch.argv[-1].endswith(child().name)
    argv = [*launch.argv[:-1], "-c", "pass"]
    return lambda: subprocess.run(argv, env=dict(launch.env), check=True, stdin=subprocess.DEVNULL)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--sandbox", choices=("best", "none"), default="best")
    options = parser.parse_args(argv)
    items = [item for item in bank.builds() if item.grade in ("call", "calls")]
    sandbox = Sandbox.measure(options.sandbox)
    with tempfile.TemporaryDirectory() as folder, Exam(items, b"benchmark") as exam:
        path = one_file(Path(folder), sorted({item.module for item in items}))
        grading = judge(load(path), exam, sandbox)  # draws the papers, as the first of a class does
        start, graded = medians(options.repeats, bare_start(sandbox), lambda: judge(load(path), exam, sandbox))
        calls = sum(len(exam.paper(item).asked) for item in items)
    command = [sys.executable, "-m", "autograder", "list"]
    (line,) = medians(7, lambda: subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL))
    row = {
        "items": len(items),
        "calls": calls,
        "points": f"{grading.score:g} of {grading.points:g}",
        "bare sandbox start, ms": round(1e3 * start, 1),
        "grading, ms": round(1e3 * graded, 1),
        "ratio": round(graded / start, 2),
        "ratio aimed at": MOST_RATIO,
        "command line, ms": round(1e3 * line, 1),
        "command line aimed at, ms": 1e3 * MOST_START,
        "sandbox": sandbox.line,
    }
    print(json.dumps(row, indent=1))
    return int(graded > MOST_RATIO * start or line > MOST_START)


if __name__ == "__main__":
    sys.exit(main())
