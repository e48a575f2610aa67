"""Run the benchmarks and write RESULTS.md: ``python -m benchmarks``, or some: ``python -m benchmarks server pages``.

Each runs alone, in a process of its own, and is ended after its minutes. What some of them find replaces what they
found before; on another machine, or with other versions, the rest is forgotten: the page is of one machine.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks import _results
from benchmarks._results import PROGRAMS, ROOT, Program


def chosen(names: Sequence[str]) -> list[Program]:
    """The programs by their names, all of them where none is named.

    Raises:
        ValueError: there is no such program.
    """
    known = {program.name: program for program in PROGRAMS}
    for name in names:
        if name not in known:
            raise ValueError(f"ONLY must be one of {', '.join(known)}, got {name!r}: make bench ONLY=server")
    return [program for program in PROGRAMS if not names or program.name in names]


def run(program: Program, full: bool) -> dict[str, Any]:
    """What a program found, when, in how many seconds, and how many processes wanted a core meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        rows, log = Path(folder, "rows.json"), Path(folder, "log")
        command = [sys.executable, "-m", f"benchmarks.{program.name}", "--rows", str(rows)]
        began, loads = time.monotonic(), [os.getloadavg()[0]]
        minutes = longest(program, full)
        status = ended(command + [*program.full] * full, log, 60 * minutes, loads)
        result = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "seconds": round(time.monotonic() - began, 1),
            "load": round(sum(loads) / len(loads), 1),
        }
        why = reason(status, minutes, log.read_text(encoding="utf-8", errors="replace"))
        if not rows.exists():
            return result | {"failed": why}
        found = json.loads(rows.read_text(encoding="utf-8"))
        return result | ({} if found["whole"] else {"ended": why}) | {"rows": found["rows"]}


def longest(program: Program, full: bool) -> float:
    """Minutes after which a program is ended."""
    return program.minutes * (10 if full else 1)


def ended(command: Sequence[str], log: Path, seconds: float, loads: list[float]) -> int | None:
    """The exit status of a command whose output goes to ``log``; None if it had to be ended, with all it started."""
    with log.open("wb") as output:
        # Every program starts many processes: compiled modules are kept, also where the shell says otherwise.
        settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(
            command, cwd=ROOT, env=settings, stdout=output, stderr=output, start_new_session=True
        )
        deadline = time.monotonic() + seconds
        try:
            while time.monotonic() < deadline:
                try:
                    return process.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    loads.append(os.getloadavg()[0])
        finally:
            if process.poll() is None:  # too late, or whoever started all this has had enough
                end(process)
        return None


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started."""
    below = psutil.Process(process.pid).children(recursive=True)  # torchrun's workers have sessions of their own
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for child in below:
        with contextlib.suppress(psutil.Error):
            child.kill()


def reason(status: int | None, minutes: float, log: str) -> str:
    """Why rows are missing, in a line."""
    if status is None:
        return f"it was ended after {minutes:g} minutes"
    lines = [line.strip() for line in log.replace(f"{ROOT}/", "").splitlines() if line.strip()]
    return f"exit status {status}: {lines[-1] if lines else 'it said nothing'}"


def main(argv: Sequence[str]) -> int:
    """Run, print a line for each, and write the page; exit status 1 if one of them found nothing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("only", nargs="*", metavar="PROGRAM", help="its name; all of them if none is given")
    parser.add_argument("--full", action="store_true", help="classes of 500 and 2,000 for the other graders as well")
    options = parser.parse_args(argv)
    try:
        programs = chosen(options.only)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    most = sum(longest(program, options.full) for program in programs)
    print(f"{len(programs)} of {len(PROGRAMS)} programs: at most {most:.0f} minutes", flush=True)
    results = _results.stored()
    machine = _results.machine()
    if results["machine"] != machine or not options.only:
        results = {"machine": machine, "programs": {}}
    for program in programs:
        found = run(program, options.full)
        results["programs"][program.name] = found
        _results.write(results)
        told = found.get("failed") or f"{len(found['rows'])} rows"
        print(f"{program.name}: {found['seconds']:.0f} s, {told}", flush=True)
    print(f"written: {_results.PAGE.name}")
    return int(any("failed" in results["programs"][program.name] for program in programs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
