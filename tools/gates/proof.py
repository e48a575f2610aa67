"""What only an adversary, a fleet of keys or a second browser can break: ``make proof``.

    python -m tools.gates.proof                     every part
    python -m tools.gates.proof corpus pages        some parts (``make proof PART=corpus``)

A part is the tests that carry its name (``pytest.mark.proof(part="corpus")``), one line with its seconds. What passed
stays passed: a run that was interrupted goes on where it was, test by test, as long as no file of the project changed.
``make clean`` forgets it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tools import execute
from tools.common import CACHE, ROOT, fail, no_checkout, say
from tools.gates import check, resume
from tools.gates.check import Count, Step

KEPT = CACHE / "proof"
#: Each part, and what it proves.
PARTS = {
    "bank": "slips, right programs and promises with more keys, and in processes; mutants of the flagships",
    "runs": "stored results of long trainings, computed again; pictures, drawn again",
    "systems": "milestones with all wrong programs, and the whole bank through the sandbox",
    "classes": "a class of two hundred, and classes on other machines",
    "corpus": "the hostile corpus without each layer of the sandbox, as other users, and in a container",
    "guides": "the guides of instructors and contributors, followed literally",
    "laws": "properties that hold for whatever is drawn, with many more examples",
    "notebooks": "every notebook, run a second time",
    "pages": "every page in the browser, every cell that it can run",
    "firefox": "the ranks of a page in Firefox",
}
#: The parts that open the built book.
OPENED = ("pages", "firefox")


def expression(part: str) -> str:
    """What chooses a part's tests."""
    return f"proof(part='{part}')"


def steps(part: str, passed: Path) -> list[Step]:
    """What a part runs, without the tests that passed before; a notebook is run again as a whole."""
    if part == "notebooks":
        return [check.BOOK, replace(check.again(execute.WORKERS, check.EXECUTED), name=part)]
    if part == "laws":
        chosen = ("-m", "hypothesis and not browser", "--hypothesis-profile", part, "tests")
        return [going_on(check.tests(part, "-n", "3", *check.SHARED, *chosen), passed)]
    if part in OPENED:
        return [check.BOOK, going_on(check.browser(part, expression(part), *check.marked("proof")), passed)]
    tests = check.tests(part, "-n", "3", *check.SHARED, "-m", expression(part), *check.marked("proof"))
    return [going_on(replace(tests, parallel=True), passed)]


def going_on(step: Step, passed: Path) -> Step:
    """A run of pytest that leaves out the tests that passed before."""
    return replace(
        step, command=(*step.command, "-p", "tools.gates.resume"), settings={**step.settings, **resume.settings(passed)}
    )


def state(root: Path = ROOT) -> str:
    """A fingerprint of the project's files: those that git has, and new ones."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True)
    found = hashlib.sha256()
    for name in sorted(set(listed.stdout.split(b"\0")) - {b""}):
        path = root / name.decode()
        found.update(name + b"\0" + (hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"") + b"\0")
    return found.hexdigest()[:16]


@dataclass(frozen=True)
class Record:
    """What is kept of a part: the tests that passed, and its counts and seconds once it was through."""

    folder: Path
    part: str

    @property
    def passed(self) -> Path:
        return self.folder / f"{self.part}.passed"

    @property
    def whole(self) -> Path:
        return self.folder / f"{self.part}.json"

    def read(self) -> tuple[Count, float] | None:
        """The counts and seconds of a part that is through."""
        if not self.whole.exists():
            return None
        kept = json.loads(self.whole.read_text(encoding="utf-8"))
        return Count(**kept["count"]), kept["seconds"]

    def write(self, count: Count, seconds: float) -> None:
        draft = self.whole.with_suffix(".part")
        draft.write_text(json.dumps({"count": vars(count), "seconds": seconds}), encoding="utf-8")
        draft.replace(self.whole)


def perform(part: str, record: Record) -> Count:
    """Run what is left of a part, and print its line."""
    if kept := record.read():
        say(f"part {part}: {kept[0]}, {kept[1]:.0f} s, on these files before")
        return kept[0]
    before = resume.known(record.passed)
    began = time.monotonic()
    count = Count(passed=len(before))
    for step in steps(part, record.passed):
        found = check.perform(step)
        count += found if step.report else Count(failed=found.failed)
        if found.failed:
            break
    seconds = time.monotonic() - began
    if not count.failed:
        record.write(count, seconds)
    gone_on = f", {len(before)} of them in an earlier run" if before else ""
    say(f"part {part}: {count}{gone_on}, {seconds:.0f} s")
    return count


def chosen(names: Sequence[str]) -> Iterator[str]:
    """The parts by their names, all of them where none is named.

    Raises:
        ValueError: there is no such part.
    """
    for name in names or PARTS:
        if name not in PARTS:
            raise ValueError(f"PART must be one of {', '.join(PARTS)}, got {name!r}: make proof PART=corpus")
        yield name


def main(arguments: Sequence[str]) -> int:
    """The command line; returns the exit status."""
    try:
        parts = list(chosen(arguments))
    except ValueError as error:
        return fail(str(error))
    if reason := no_checkout():
        return fail(reason)
    folder = KEPT / state()
    for path in (folder, check.REPORTS):
        path.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    total = sum((perform(part, Record(folder, part)) for part in parts), start=Count())
    say(f"{len(parts)} of {len(PARTS)} parts in {(time.monotonic() - began) / 60:.1f} minutes")
    say(str(total))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
