"""The grader beside otter-grader and nbgrader, on the same assignment: ``python -m benchmarks.other_graders``.

The assignment is two functions, handed in as a notebook; all three graders call them with the same arguments and
compare with the same tolerance. The other two are installed from the package index into environments of their own,
under ``.cache/graders``. What cannot be installed is said so in its row.

Seconds of one submission, and of each in a class; the largest process; points that hostile programs earn, which answer
everything wrong; and what each says of a program with a known mistake.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import bank
from autograder.items import Build, Case
from autograder.marking import trusted
from autograder.running.exam import Exam
from benchmarks._rows import Row, arguments, finish, keep

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "graders"
ITEMS = ("02-message-time", "03-ring-all-reduce-time")
WORKERS = 2
#: Sizes of a class, and seconds after which a class or a submission is ended.
SIZES = (50, 500, 2000)
LONGEST, LONGEST_ONE = 240.0, 90.0

RIGHT = (
    "def message_time(message_bytes, bandwidth, latency=0.0):\n    return latency + message_bytes / bandwidth\n",
    "def ring_all_reduce_time(message_bytes, ranks, bandwidth, latency=0.0):\n"
    "    return 2 * (ranks - 1) * (message_bytes / ranks / bandwidth + latency)\n",
)
#: A mistake that people make: each step moves the whole tensor.
WRONG = (RIGHT[0], RIGHT[1].replace("message_bytes / ranks", "message_bytes"))
_NONE = RIGHT[0].partition("\n")[0] + "\n    {}\n"
_LIES = RIGHT[1].partition("\n")[0] + "\n    return -1.0\n"
#: Programs that answer nothing right, and what they try.
HOSTILE = {
    "never ends": (_NONE.format("while True: pass"), _LIES),
    "ends the process": (_NONE.format("import os; os._exit(0)"), _LIES),
    "replaces the comparison": (
        "import math, builtins\nmath.isclose = lambda *a, **k: True\n" + _NONE.format("return -1.0"),
        _LIES,
    ),
    "writes a file outside": (
        "from pathlib import Path\ntry:\n    Path({mark!r}).write_text('I was here')\nexcept OSError:\n    pass\n"
        + _NONE.format("return -1.0"),
        _LIES,
    ),
}

#: Settings of this shell that would change what a grader does, or how fast.
LEFT_OUT = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")

#: Runs a command with a limit of time, and prints the most memory that a process of it had, KiB.
MEASURE = """
import resource, subprocess, sys
try:
    status = subprocess.run(sys.argv[2:], timeout=float(sys.argv[1])).returncode
except subprocess.TimeoutExpired:
    status = 124
print()
print("maxrss", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, status)
"""


@dataclass(frozen=True)
class Ran:
    """A command: its output, seconds, the largest process in MiB, and whether it had to be ended."""

    output: str
    seconds: float
    memory: float
    ended: bool


def run(command: Sequence[str], folder: Path, limit: float) -> Ran:
    """Run a command in ``folder`` for at most ``limit`` seconds."""
    environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(limit), *command],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT), "PATH": f"{Path(command[0]).parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    told = re.search(r"^maxrss (\d+) (-?\d+)$", done.stdout, re.MULTILINE)  # a process that was left may print after it
    assert told is not None, done.stdout
    return Ran(done.stdout[: told.start()], time.perf_counter() - began, int(told[1]) / 1024, told[2] == "124")


def cases() -> dict[str, list[tuple[Case, Any]]]:
    """The calls of each function with their right answers: the public ones, and the hidden ones of one key."""
    found = {}
    items = [item for item in map(bank.find, ITEMS) if isinstance(item, Build)]
    with Exam(items, b"benchmark") as exam:
        for item in items:
            asked = exam.sheet(item).cases
            right = [outcome.value for outcome in trusted.run(item, item.solution(), asked)]
            found[item.function] = list(zip(asked, right, strict=True))
    return found


def assertion(function: str, case: Case, right: float) -> str:
    """A call that must be near its right answer, as a line of Python."""
    named = [*map(repr, case.args), *(f"{name}={value!r}" for name, value in case.kwargs.items())]
    return f"assert math.isclose({function}({', '.join(named)}), {right!r}, rel_tol=1e-9)"


def notebook(cells: Sequence[dict[str, Any]]) -> str:
    """A notebook of code cells."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = [{"cell_type": "code", "execution_count": None, "outputs": [], "metadata": {}} | cell for cell in cells]
    return json.dumps({"cells": whole, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def plain(program: Sequence[str]) -> str:
    """A program as a notebook of two cells."""
    return notebook([{"id": f"part{number}", "source": part} for number, part in enumerate(program)])


def environment(package: str) -> tuple[Path | None, str]:
    """Where a package's commands are, and its version; or nothing, and why."""
    folder = HOME / package
    if not (folder / "installed").exists():
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", package, "ipykernel"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                lines = done.stderr.strip().splitlines()
                return None, re.sub(r"\S*/\S*", "...", lines[-1] if lines else "no reason given")
        (folder / "installed").touch()
    ask = f"import importlib.metadata as m; print(m.version({package!r}))"
    version = subprocess.run([folder / "bin" / "python", "-c", ask], capture_output=True, text=True, check=True).stdout
    return folder / "bin", version.strip()


class Ours:
    """This course's grader, from its command line."""

    name, version = "ours", ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = [sys.executable, "-m", "autograder"]
        self.key = folder / "key.txt"
        self.key.write_text("benchmark\n")
        self.key.chmod(0o600)

    def one(self, program: Sequence[str]) -> tuple[Ran, float, str]:
        """The run, points of 8, and the report."""
        path, out = self.folder / "one.ipynb", self.folder / "one.json"
        path.write_text(plain(program))
        out.unlink(missing_ok=True)
        asked = ["--only", *ITEMS, "--key", str(self.key)]
        ran = run([*self.command, "grade", str(path), "--out", str(out), *asked], self.folder, LONGEST_ONE)
        if not out.exists():
            return ran, 0.0, "no result: " + last(ran.output)
        return ran, json.loads(out.read_text()).get("score", 0.0), ran.output

    def class_of(self, programs: Sequence[Sequence[str]]) -> tuple[Ran, int]:
        """The run, and how many were graded."""
        folder, out = self.folder / f"class{len(programs)}", self.folder / f"graded{len(programs)}"
        folder.mkdir()
        for number, program in enumerate(programs):
            (folder / f"learner{number:04}.ipynb").write_text(plain(program))
        asked = ["--only", *ITEMS, "--key", str(self.key), "--workers", str(WORKERS)]
        ran = run([*self.command, "grade-class", str(folder), "--out", str(out), *asked], self.folder, LONGEST)
        return ran, len(programs) if not ran.ended else 0


class Otter:
    """otter-grader without a container, as ``otter run`` grades one submission."""

    name, package = "otter-grader", "otter-grader"
    how = "as well"
    claims = "It isolates by a container, which `otter run` goes without."

    def __init__(self, folder: Path, commands: Path, version: str, asked: dict[str, list[tuple[Case, Any]]]) -> None:
        self.folder, self.otter, self.version = folder, str(commands / "otter"), version
        tests = folder / "tests"
        tests.mkdir()
        for function, given in asked.items():
            codes = [
                {"code": f">>> import math\n>>> {assertion(function, case, right)}\n", "hidden": False, "locked": False}
                for case, right in given
            ]
            suite = {"cases": codes, "scored": True, "setup": "", "teardown": "", "type": "doctest"}
            test = {"name": function, "points": 4, "all_or_nothing": True, "suites": [suite]}
            (tests / f"{function}.py").write_text(f"OK_FORMAT = True\n\ntest = {test!r}\n")
        self.zip = folder / "autograder.zip"
        run([self.otter, "generate", "-t", str(tests), "-o", str(self.zip), "--no-config"], folder, LONGEST)

    def graded(self, program: Sequence[str], name: str) -> tuple[Ran, float, str]:
        """The run, points of 8, and the report of one in a folder of its own."""
        own = self.folder / name
        own.mkdir(exist_ok=True)
        (own / "handed.ipynb").write_text(plain(program))
        (own / "results.json").unlink(missing_ok=True)
        ran = run([self.otter, "run", "-a", str(self.zip), "-o", str(own), str(own / "handed.ipynb")], own, LONGEST_ONE)
        if not (own / "results.json").exists():
            return ran, 0.0, "no result: " + last(ran.output)
        tests = json.loads((own / "results.json").read_text())["tests"]
        score = sum(one.get("score", 0.0) or 0.0 for one in tests)
        return ran, score, "\n".join(one.get("output", "") for one in tests)

    def one(self, program: Sequence[str]) -> tuple[Ran, float, str]:
        """The run, points of 8, and the report."""
        return self.graded(program, "one")

    def class_of(self, programs: Sequence[Sequence[str]]) -> tuple[Ran, int]:
        """As many as the time allows, two at a time."""
        began, runs = time.perf_counter(), []
        with ThreadPoolExecutor(WORKERS) as pool:

            def grade(number: int) -> None:
                if time.perf_counter() - began < LONGEST:
                    runs.append(self.graded(programs[number], f"learner{number:04}")[0])

            list(pool.map(grade, range(len(programs))))
        memory = max(ran.memory for ran in runs)
        return Ran("", time.perf_counter() - began, memory, len(runs) < len(programs)), len(runs)


class Nbgrader:
    """nbgrader: ``nbgrader autograde`` executes notebooks in which its tests are cells."""

    name, package = "nbgrader", "nbgrader"
    how = "one after the other, as its command does"
    claims = "It runs notebooks in a kernel of their own, and leaves isolation to whoever runs it."

    def __init__(self, folder: Path, commands: Path, version: str, asked: dict[str, list[tuple[Case, Any]]]) -> None:
        self.folder, self.nbgrader, self.version, self.asked = folder, str(commands / "nbgrader"), version, asked
        (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'course'\n")
        source = folder / "source" / "hw"
        source.mkdir(parents=True)
        (source / "hw.ipynb").write_text(self.cells(RIGHT))
        self.did = run([self.nbgrader, "generate_assignment", "hw", "--create", "--force"], folder, LONGEST)

    def cells(self, program: Sequence[str]) -> str:
        """A submission: what is written, and after each part the cell that tests it."""
        found = []
        for part, (function, given) in zip(program, self.asked.items(), strict=True):
            marks = {"schema_version": 3, "task": False}
            written = {"grade_id": function, "grade": False, "locked": False, "solution": True} | marks
            tested = {"grade_id": f"{function}-test", "grade": True, "locked": True, "solution": False, "points": 4}
            lines = ["import math", *(assertion(function, case, right) for case, right in given)]
            found.append({"id": f"w-{len(found)}", "source": part, "metadata": {"nbgrader": written}})
            found.append(
                {"id": f"t-{len(found)}", "source": "\n".join(lines), "metadata": {"nbgrader": tested | marks}}
            )
        return notebook(found)

    def class_of(self, programs: Sequence[Sequence[str]], name: str = "learner") -> tuple[Ran, int]:
        """The run, and how many were graded; one after the other, as it does."""
        for folder in ("submitted", "autograded"):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        for number, program in enumerate(programs):
            folder = self.folder / "submitted" / f"{name}{number:04}" / "hw"
            folder.mkdir(parents=True)
            (folder / "hw.ipynb").write_text(self.cells(program))
        limit = LONGEST_ONE if len(programs) == 1 else LONGEST
        ran = run([self.nbgrader, "autograde", "hw", "--create", "--force"], self.folder, limit)
        return ran, len([*self.folder.glob("autograded/*/hw/hw.ipynb")])

    def one(self, program: Sequence[str]) -> tuple[Ran, float, str]:
        """The run, points of 8, and what the tested cells print."""
        ran, done = self.class_of([program], "one")
        if not done:
            return ran, 0.0, "no result: " + last(ran.output)
        run([self.nbgrader, "export"], self.folder, LONGEST)
        rows = [line.split(",") for line in (self.folder / "grades.csv").read_text().splitlines()]
        place, learner = rows[0].index("score"), rows[0].index("student_id")
        score = next(float(row[place]) for row in rows if row[learner] == "one0000")
        graded = json.loads((self.folder / "autograded/one0000/hw/hw.ipynb").read_text())
        outputs = [output for cell in graded["cells"] for output in cell.get("outputs", ())]
        return ran, score, "\n".join(output["evalue"] or output["ename"] for output in outputs if "ename" in output)


def last(output: str) -> str:
    """The last line of an output, without paths."""
    lines = [line for line in output.splitlines() if line.strip()]
    return re.sub(r"\S*/\S*", "...", lines[-1])[:160] if lines else "nothing"


def others(folder: Path) -> Iterator[tuple[str, Otter | Nbgrader | str]]:
    """Each of the other graders, or why it is not there."""
    asked = cases()
    for kind in (Otter, Nbgrader):
        commands, version = environment(kind.package)
        own = folder / kind.name
        own.mkdir()
        yield kind.name, kind(own, commands, version, asked) if commands else version


def quoted(report: str, pattern: str) -> str:
    """The line of a report that matches, in quotes; else its last one."""
    found = re.search(pattern, report)
    line = found[0] if found else last(report)
    return "“" + re.sub(r"[|\s]+", " ", line).strip()[:200] + "”"


def hostile(grader: Ours | Otter | Nbgrader, folder: Path) -> tuple[list[str], list[str]]:
    """Hostile programs that earned points, and those whose writing was found outside."""
    earned, left = [], []
    for name, (first, second) in HOSTILE.items():
        mark = folder / f"mark-{grader.name}"
        program = first.replace("{mark!r}", repr(str(mark))), second
        _, score, _ = grader.one(program)
        earned += [name] * (score > 0)
        left += [name] * mark.exists()
    return earned, left


def listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def compared(
    ours: Ours, other: Otter | Nbgrader, sizes: Sequence[int], folder: Path, kept: dict[str, Any]
) -> Iterator[Row]:
    """All rows beside one other grader, each when it is known."""
    beside = f"{other.name} {other.version}"
    same = "The same two functions, calls and tolerance, in a notebook"
    (mine, my_score, _), (theirs, score, _) = ours.one(RIGHT), other.one(RIGHT)
    if (my_score, score) != (8.0, 8.0):
        told = f"A right program must earn all 8 points before anything can be compared: {last(theirs.output)}"
        yield Row("points of a right submission", my_score, "", beside, score, told)
        return
    yield Row("one right submission", mine.seconds, "s", beside, theirs.seconds, f"{same}; from command to result.")
    yield Row("its largest process", mine.memory, "MiB", beside, theirs.memory, "The same runs.")
    (_, my_score, report), (_, score, said) = ours.one(WRONG), other.one(WRONG)
    quotes = f"Ours: {quoted(report, r'.*(whole|chunk|S/N).*')}; {other.name}: {quoted(said, r'.*(rror|assert).*')}"
    yield Row("points of 8 where each step of the ring moves the whole tensor", my_score, "", beside, score, quotes)
    if "hostile" not in kept:
        kept["hostile"] = hostile(ours, folder)
    (earned, left), (their_earned, their_left) = kept["hostile"], hostile(other, folder)
    yield Row(
        f"hostile programs, of {len(HOSTILE)}, that earn points for wrong answers",
        *(len(earned), "", beside, len(their_earned)),
        fair=f"Ours: {listed(earned)}; {other.name}: {listed(their_earned)}. {other.claims}",
        most=0,
    )
    yield Row(
        "hostile programs that leave a file outside of the grading",
        *(len(left), "", beside, len(their_left)),
        fair=other.claims,
        most=0,
    )
    for size in sizes:
        programs = [RIGHT if number % 2 else WRONG for number in range(size)]
        if size not in kept:
            kept[size] = ours.class_of(programs)
        (ran, done), (run_other, did) = kept[size], other.class_of(programs)
        partly = f" It graded {did} in the time allowed." if did < size else ""
        how = f"{same}, half of them wrong; ours two at a time, {other.name} {other.how}.{partly}"
        if did and done:
            per = ran.seconds / done, run_other.seconds / did
            yield Row(f"each of a class of {size:,}", per[0], "s", beside, per[1], how)


def main(argv: Sequence[str] | None = None) -> int:
    """Grade with each, and print."""
    parser = arguments(__doc__)
    parser.add_argument("--most", type=int, default=SIZES[0], help="largest class")
    options = parser.parse_args(argv)
    sizes = [size for size in SIZES if size <= options.most]
    rows: list[Row] = []
    kept: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ours").mkdir()
        ours = Ours(folder / "ours")
        for title, other in others(folder):
            if isinstance(other, str):
                rows.append(Row(f"{title} could not be installed: {other}", 0.0, "rows"))
            else:
                for row in compared(ours, other, sizes, folder, kept):
                    rows.append(row)
                    keep(rows, options)
    for row in rows:
        print(f"{row.what}: {row.ours:.3g} {row.unit}   {row.beside}: {row.other or 0:.3g}   {row.fair}")
    return finish(rows, options)


if __name__ == "__main__":
    sys.exit(main())
