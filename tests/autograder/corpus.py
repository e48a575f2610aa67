"""The hostile corpus, graded: every file earns what its answers are worth, whatever else it tries.

    python tests/autograder/corpus.py                      all files, with every layer that this host has
    python tests/autograder/corpus.py --without seccomp    without one layer (may be given more than once)
    python tests/autograder/corpus.py --sandbox none       process limits only; files that need more are left out
    python tests/autograder/corpus.py --plain --json OUT   only files that need no torch; what was found, as JSON
    python tests/autograder/corpus.py --heavy --torch 0/3  only files that need torch, one in three of them
    python tests/autograder/corpus.py --only world_pickle  some files, by name

Exit status 0: nothing was found; 1: something was, one line for each; 3: a layer to be left out is there.
Files of call and calls items need ``autograder/``, ``rankzero/`` and the standard library only.

Each file in ``hostile/`` says in its docstring what it tries, and in a header what a sound grader makes of it:

``# item:``   what it answers, an item of :mod:`corpus_items`: ``call``, ``calls``, ``saver``, ``tensor``, ``stage``,
              ``probe``, ``graph``, ``world`` or ``quiet`` (a world whose rule asks for no operation).
``# earns:``  points, of 4.
``# ends:``   how its calls may end: kinds of :data:`autograder.marking.outcome.KINDS`.
``# needs:``  what must be guarded before it is tried: of ``files``, ``network``, ``processes``, ``channels``, or
             ``nothing``.
"""

# ruff: noqa: E402

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

from corpus_items import ITEMS, PLAIN

from autograder import bank
from autograder.items import Stage, Tensor
from autograder.marking import report
from autograder.marking.answers import Answers
from autograder.marking.outcome import Outcome
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.running.limits import Limits
from autograder.sandbox import Sandbox, interpreter
from autograder.sandbox.launch import child_files
from autograder.submission import Unreadable, load

FOLDER = HERE / "hostile"
KEY, SECRET = b"KEY-c0ffee41", "SECRET-b7e3d1"
#: Much more than a call takes that ends at all: how it ends must not depend on how busy the machine is.
LIMITS = Limits(imports=10.0, packages=120.0, call=5.0, world=20.0, submission=60.0, tensors=300.0, losses=1)
#: Where no package has to be imported, an endless loop is noticed sooner.
PLAIN_LIMITS = replace(LIMITS, call=2.0)
#: Seconds that one submission may take: several times its budget, for a machine that does other work too.
LONGEST = {name: 300.0 if name in PLAIN else 600.0 for name in ITEMS}
#: Key of the shared memory, and beginning of the name of every file, that a submission tries to leave behind.
SEGMENT, LEFT = 0x5EC2E7, "hostile-left"


def as_packed(exam: Path) -> None:
    """In an archive's copy of the grader, as there, only the chapters that were packed are available."""
    if exam.exists():
        bank.CHAPTERS = tuple(json.loads(exam.read_text(encoding="utf-8"))["chapters"])  # type: ignore[assignment]


# The files.


def header(file: Path, name: str) -> list[str]:
    """The words after ``# name:`` in a file.

    Raises:
        ValueError: it has no such line.
    """
    found = re.search(rf"^# {name}: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise ValueError(f"{file.name} has no '# {name}:' line")
    return found[1].split()


def files(plain: bool = False) -> list[Path]:
    """All of the corpus, or those that need no torch."""
    found = sorted(FOLDER.glob("*.py"))
    return [file for file in found if header(file, "item")[0] in PLAIN] if plain else found


def allowed(file: Path, sandbox: Sandbox) -> bool:
    """Whether what the file attacks is guarded: else it would read or end what is not ours to give."""
    guards = frozenset[str]().union(*(layer.guards for layer in sandbox.layers))
    return set(header(file, "needs")) - {"nothing"} <= guards


# Grading.


@dataclass(frozen=True)
class Verdict:
    """What came of one file. ``faults`` are sentences on what a sound grader would not have done."""

    name: str
    item: str
    score: float
    ends: tuple[str, ...]
    seconds: float
    faults: tuple[str, ...]


def leaks(text: str, exam: Exam) -> list[str]:
    """What of the hidden cases, their expected values and the key stands in ``text``."""
    found = [secret for secret in (KEY.decode(), SECRET) if secret in text]
    for asked in exam.paper(exam.items[0]).asked:
        if asked.group is not None:
            for number in _hidden((asked.case.args, asked.case.calls, asked.expected.value)):
                if re.search(_pattern(number), text):
                    found.append(f"{number:.4f}")
    return found


def _pattern(number: float) -> str:
    """A number that is told: its digits, whatever stands for its point, or its whole part alone."""
    whole, _, rest = f"{number:.4f}".partition(".")
    alone = rf"(?<![\d.]){whole}(?![\d.])"
    return rf"(?<!\d){whole}\D{{0,3}}{rest}|{alone}" if rest.strip("0") else alone


def _hidden(value: Any) -> set[float]:
    """The telling numbers in a case or an expected value."""
    if isinstance(value, Tensor):
        return _hidden(value.tolist())
    if isinstance(value, Stage):
        return _hidden(value.layers)
    if isinstance(value, dict):
        return _hidden(list(value.values()))
    if isinstance(value, list | tuple):
        return {number for part in value for number in _hidden(part)}
    return {abs(value)} if type(value) in (int, float) and abs(value) >= 100 else set()


def graded(file: Path, exam: Exam, sandbox: Sandbox) -> Verdict:
    """One file, loaded, asked, kept as a class keeps it, and graded from what was kept."""
    started = time.monotonic()
    item = header(file, "item")[0]
    try:
        answers = judging.ask(load(file), exam, sandbox, PLAIN_LIMITS if item in PLAIN else LIMITS)
    except Unreadable as reason:
        answers = Answers(file.name, reason=str(reason))
    kept = json.dumps(answers.to_json(), allow_nan=False)
    grading = judging.grade(Answers.from_json(json.loads(kept)), exam)
    seconds = time.monotonic() - started
    ends = tuple(outcome.kind for outcomes in answers.outcomes.values() for outcome in outcomes)
    results = report.results(grading, {"sandbox": sandbox.line, "key": exam.key_hash})
    text = json.dumps(results["tests"], ensure_ascii=False, allow_nan=False) + results["output"] + report.table(grading)
    faults = [f"earned {grading.score:g}"] if grading.score != float(header(file, "earns")[0]) else []
    faults += [f"a call ended as {end}" for end in sorted(set(ends) - set(header(file, "ends")))]
    faults += [f"the report shows {leak}" for leak in leaks(text, exam)]
    faults += _strange(outcome for outcomes in answers.outcomes.values() for outcome in outcomes)
    faults += ["the answers hold a secret"] if SECRET in kept or KEY.decode() in kept else []
    faults += ["the report holds a control character"] if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text) else []
    faults += [f"it took {seconds:.1f} s"] if seconds > LONGEST[item] else []
    return Verdict(file.stem, item, grading.score, ends, seconds, tuple(faults))


def _strange(outcomes: Iterable[Outcome]) -> list[str]:
    """Outcomes that no grader may make, whatever a submission does."""
    found = []
    for outcome in outcomes:
        if not outcome.detail.isprintable():
            found.append(f"an outcome is told in {outcome.detail!r}")
        if outcome.events and (type(outcome.value) is not tuple or len(outcome.value) != 2) and outcome.kind == "value":
            found.append("a world of two ranks has other than two values")
        if not {event.rank for event in outcome.events} <= {0, 1}:
            found.append("there are events of a rank that is not there")
    return found


def safely(file: Path, exams: dict[str, Exam], sandbox: Sandbox) -> Verdict:
    """As :func:`graded`; an exception is a fault of the grader."""
    item = header(file, "item")[0]
    try:
        return graded(file, exams[item], sandbox)
    except Exception as error:
        return Verdict(file.stem, item, 0.0, (), 0.0, (f"the grader raised {type(error).__name__}: {error}",))


def papers(chosen: Iterable[Path]) -> dict[str, Exam]:
    """The exams that files answer, by item, with every expected value computed."""
    exams = {item: Exam([ITEMS[item]], KEY) for item in {header(file, "item")[0] for file in chosen}}
    for exam in exams.values():
        exam.paper(exam.items[0])
    return exams


def run(chosen: Sequence[Path], exams: dict[str, Exam], sandbox: Sandbox, threads: int = 6) -> list[Verdict]:
    """Grade files side by side, those that need torch after the others and two at a time."""
    plain = [file for file in chosen if header(file, "item")[0] in PLAIN]
    verdicts = []
    for part, workers in ((plain, threads), ([file for file in chosen if file not in plain], 2)):
        with ThreadPoolExecutor(workers) as pool:
            verdicts += pool.map(lambda file: safely(file, exams, sandbox), part)
    return verdicts


# What stands around a run, and must be as it was when it is over.

BYSTANDER = "import signal, sys; signal.signal(signal.SIGURG, lambda *_: sys.exit(7)); sys.stdin.read()"


class Surroundings:
    """A neighbour's work, a process that nobody may touch, an empty folder for temporary files."""

    def __enter__(self) -> Surroundings:
        child_files()  # are kept for the whole process: not in the folder that goes
        self.key = os.environ.get("AUTOGRADER_KEY")
        os.environ["AUTOGRADER_KEY"] = SECRET
        self.folder = tempfile.mkdtemp(prefix="corpus-")
        os.chmod(self.folder, 0o1777)
        self.before = tempfile.tempdir
        tempfile.tempdir = self.folder
        Path(self.folder, "neighbour.py").write_text(f"# {SECRET}\n")
        Path(self.folder, "neighbour.py").chmod(0o644)
        self.bystander = subprocess.Popen([interpreter(), "-c", BYSTANDER], stdin=subprocess.PIPE)
        self.known = _below(os.getpid())
        self.state = _state()
        return self

    def __exit__(self, *_: object) -> None:
        self.bystander.kill()
        self.bystander.communicate()
        tempfile.tempdir = self.before
        del os.environ["AUTOGRADER_KEY"]
        if self.key is not None:
            os.environ["AUTOGRADER_KEY"] = self.key
        shutil.rmtree(self.folder, ignore_errors=True)

    def faults(self, seconds: float = 60.0) -> list[str]:
        """What is not as it was, in sentences; what is just being ended may take so many ``seconds``."""
        found = [f"process {pid} survives: {line}" for pid, line in survivors(self.known, seconds)]
        found += ["a process that is not the grader's was reached"] if self.bystander.poll() is not None else []
        found += ["the grader's own limits or priority changed"] if _state() != self.state else []
        left = {name for name in os.listdir(self.folder) if not name.startswith("grader-")} - {"neighbour.py"}
        found += [f"{name} is left in the folder for temporary files" for name in sorted(left)]
        for folder in ("/tmp", "/var/tmp", "/dev/shm"):
            found += [f"{path} is left" for path in map(str, Path(folder).glob(f"{LEFT}*"))]
        return found + (["shared memory is left"] if segment() else [])


def _state() -> list[Any]:
    limits = [resource.getrlimit(which) for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS)]
    return [*limits, os.getpriority(os.PRIO_PROCESS, 0)]


def segment() -> bool:
    """Whether there is shared memory of the key that submissions use."""
    path = Path("/proc/sysvipc/shm")
    return path.exists() and any(line.split()[0] == str(SEGMENT) for line in path.read_text().splitlines()[1:])


def survivors(known: set[int], seconds: float) -> list[tuple[int, str]]:
    """Processes below this one but those that are ``known``; waits for those that are being ended."""
    deadline = time.monotonic() + seconds
    while (left := _below(os.getpid()) - known) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [(pid, _line(pid)) for pid in sorted(left)]


def _below(pid: int) -> set[int]:
    found = set()
    for path in Path("/proc", str(pid), "task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has just ended
            for child in map(int, path.read_text().split()):
                found |= {child} | _below(child)
    return found


def _line(pid: int) -> str:
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "gone"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Grade the hostile corpus.", allow_abbrev=False)
    parser.add_argument("--sandbox", default="best", choices=("best", "required", "none"))
    parser.add_argument("--without", action="append", default=[], help="a layer to leave out")
    parser.add_argument("--plain", action="store_true", help="only files that need no torch")
    parser.add_argument("--heavy", action="store_true", help="only files that need torch")
    parser.add_argument("--only", action="append", default=[], help="a file, by its name without .py")
    parser.add_argument("--torch", default="0/1", metavar="I/N", help="of those that need torch, one in N from I on")
    parser.add_argument("--threads", type=int, default=6)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(argv)
    as_packed(HERE.parents[1] / "exam.json")
    sandbox = Sandbox.measure(asked.sandbox, without=tuple(asked.without))
    if any(layer.name in asked.without for layer in sandbox.layers):
        return 3
    plain = set(files(plain=True))
    heavy = [file for file in files(asked.plain) if file not in plain]
    first, step = map(int, asked.torch.split("/"))
    chosen = [*([] if asked.heavy else sorted(plain)), *heavy[first::step]]
    chosen = [file for file in chosen if not asked.only or file.stem in asked.only]
    tried = [file for file in chosen if allowed(file, sandbox)]
    started = time.monotonic()
    exams = papers(tried)
    with Surroundings() as around:
        verdicts = run(tried, exams, sandbox, asked.threads)
        faults = around.faults()
    faults += [f"{verdict.name}: {fault}" for verdict in verdicts for fault in verdict.faults]
    seconds = time.monotonic() - started
    left_out = [file.stem for file in chosen if file not in tried]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{sandbox.line}\n{len(tried)} files in {seconds:.1f} s, {len(left_out)} left out, {len(faults)} faults")
    if asked.json:
        content = {"sandbox": sandbox.line, "seconds": seconds, "left_out": left_out, "faults": faults}
        asked.json.write_text(json.dumps(content | {"verdicts": [asdict(verdict) for verdict in verdicts]}))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
