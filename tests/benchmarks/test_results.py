"""RESULTS.md: made from what was found, whole or not at all, and never stale."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from benchmarks import __main__ as bench
from benchmarks import _results
from benchmarks._results import PROGRAMS, Program
from benchmarks._rows import Row, finish, read
from tools.common import ROOT

FAST = Row("four ranks", 0.1, "s", "torchrun", 2.0, "The same work, in turns.", most=1 / 15, goal="ratio")
SLOW = Row("a start", 0.5, "s", most=0.2, missed_by="Imports take most of it.")


def results(**programs) -> dict:
    machine = {"python": "3.11", "torch": "2.10", "system": "Linux", "cores": 2, "memory, GiB": 24}
    return {"machine": machine, "programs": programs}


def found(*rows: Row) -> dict:
    return {"date": "2026-11-29", "seconds": 90.0, "load": 2.0, "rows": [vars(row) for row in rows]}


def test_the_page_is_made_from_what_was_found():
    """Kills a page that somebody edited, or that shows other figures than the data and the course have."""
    assert _results.PAGE.read_text(encoding="utf-8") == _results.page(_results.stored())


def test_goals_of_figures_and_of_ratios():
    assert FAST.ratio == pytest.approx(0.05)
    assert not FAST.missed
    assert SLOW.missed
    assert SLOW.ratio is None
    assert Row("x", 2.0, other=1.0, least=3.0, goal="ratio").missed
    assert not Row("x", 2.0, least=2.0).missed
    assert not Row("x", 2.0, most=1.0, goal="ratio").missed  # nothing beside it: no ratio


def test_rows_there_and_back(tmp_path, capsys):
    file = tmp_path / "rows.json"
    assert finish([FAST, SLOW], argparse.Namespace(rows=file)) == 1
    kept = json.loads(file.read_text())
    assert kept["whole"]
    assert read(kept["rows"]) == [FAST, SLOW]
    assert capsys.readouterr().out == "missed: a start: 0.5 (at most 0.2 aimed at)\n"
    assert finish([FAST], argparse.Namespace(rows=None)) == 0


def test_a_row_says_what_is_compared_why_that_is_fair_and_by_how_much():
    page = _results.page(results(world_start=found(FAST, SLOW)))
    assert "| four ranks | 0.1 s | torchrun | 2 s | 0.05 | ratio at most 0.0667: reached | The same work, in" in page
    assert "| a start | 0.5 s |  |  |  | at most 0.2: missed |  |" in page
    assert "Missed: a start. Imports take most of it." in page
    assert "2026-11-29, 1.5 minutes; on average 2 processes wanted a core." in page
    assert "`python -m benchmarks.server`: not measured yet." in page


def test_every_program_is_there_and_ends_in_rows():
    files = {path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py")}
    names = [program.name for program in PROGRAMS]
    assert len(names) == len(set(names))
    # These store what pages show.
    recorders = {"broken_loops", "cartpole", "ddp_trace", "gpu", "tiny_pair", "toy_models"}
    assert set(names) == files - recorders
    for name in names:
        source = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
        assert "finish(" in source, name
        assert f"python -m benchmarks.{name}" in source, name
        assert "def main(argv: Sequence[str] | None = None) -> int:" in source, name


#: Writes a row, whole or not.
WRITE = (
    "import json, sys\n"
    'open(sys.argv[2], "w").write(json.dumps({{"whole": {}, "rows": [{{"what": "x", "ours": 1.0}}]}}))\n'
)


def program(tmp_path, monkeypatch, code: str, minutes: float = 1.0) -> dict:
    """What is kept of a program with this code."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "one.py").write_text(code)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    return bench.run(Program("one", minutes), full=False)


def test_the_rows_of_a_program_are_kept(tmp_path, monkeypatch):
    kept = program(tmp_path, monkeypatch, f"{WRITE.format(True)}sys.exit(1)")
    assert read(kept["rows"]) == [Row("x", 1.0)]
    assert "ended" not in kept
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", kept["date"])


def test_a_program_that_fails_halfway_does_not_look_whole(tmp_path, monkeypatch):
    kept = program(tmp_path, monkeypatch, f"{WRITE.format(False)}raise ValueError('no row of one0000')")
    assert read(kept["rows"]) == [Row("x", 1.0)]
    assert kept["ended"] == "exit status 1: ValueError: no row of one0000"


def test_an_interrupt_ends_what_was_started(tmp_path, monkeypatch):
    """Kills a benchmark that goes on in the background."""

    def interrupted(self, timeout=None):
        if timeout is not None:
            raise KeyboardInterrupt
        return wait(self)

    wait = subprocess.Popen.wait
    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    sleep = f"import time; time.sleep(1234.5)  # {tmp_path}"
    with pytest.raises(KeyboardInterrupt):
        bench.ended([sys.executable, "-c", sleep], tmp_path / "log", 60, [])
    assert not any(sleep in one.info["cmdline"] for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"])


def test_a_program_that_fails_says_why_without_a_path(tmp_path, monkeypatch):
    kept = program(tmp_path, monkeypatch, f"raise FileNotFoundError('{tmp_path}/book is not built')")
    assert kept["failed"] == "exit status 1: FileNotFoundError: book is not built"


def test_a_program_that_does_not_end_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    start = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {!r}], start_new_session=True).wait()"
    sleep = f"import time; time.sleep(1234.5)  # {tmp_path}"
    kept = program(tmp_path, monkeypatch, start.format(sleep), minutes=0.01)
    assert kept["failed"] == "it was ended after 0.01 minutes"
    assert not any(sleep in one.info["cmdline"] for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"])


def test_what_a_long_program_found_before_it_was_ended_is_kept(monkeypatch):
    def ended(command, log, seconds, loads) -> None:
        rows = {"whole": False, "rows": [{"what": "x", "ours": 1.0}]}
        Path(command[command.index("--rows") + 1]).write_text(json.dumps(rows))
        log.touch()

    monkeypatch.setattr(bench, "ended", ended)
    kept = bench.run(Program("one", 3), full=False)
    assert read(kept["rows"]) == [Row("x", 1.0)]
    assert "; it was ended after 3 minutes, so rounds or rows are missing." in _results.page(results(server=kept))
    assert bench.run(Program("one", 3), full=True)["ended"] == "it was ended after 30 minutes"


def test_it_says_first_how_long_it_takes_and_runs_one(monkeypatch, capsys):
    written = []
    monkeypatch.setattr(_results, "write", lambda results: written.append(json.loads(json.dumps(results))))
    monkeypatch.setattr(_results, "stored", lambda: results(server=found(FAST), pages=found(SLOW)))
    monkeypatch.setattr(_results, "machine", lambda: results()["machine"])
    monkeypatch.setattr(bench, "run", lambda program, full: found(SLOW, SLOW))
    assert bench.main(["server"]) == 0
    said = capsys.readouterr().out.splitlines()
    (minutes,) = (program.minutes for program in PROGRAMS if program.name == "server")
    assert said[0] == f"1 of {len(PROGRAMS)} programs: at most {minutes:g} minutes"
    assert said[1] == "server: 90 s, 2 rows"
    assert {name: len(kept["rows"]) for name, kept in written[-1]["programs"].items()} == {"server": 2, "pages": 1}


def test_on_another_machine_the_rest_is_forgotten(monkeypatch):
    """Kills a page that mixes two machines."""
    written = []
    monkeypatch.setattr(_results, "write", lambda results: written.append(json.loads(json.dumps(results))))
    monkeypatch.setattr(_results, "stored", lambda: results(pages=found(SLOW)))
    monkeypatch.setattr(_results, "machine", lambda: {"cores": 64})
    monkeypatch.setattr(bench, "run", lambda program, full: found(FAST))
    assert bench.main(["server"]) == 0
    assert set(written[-1]["programs"]) == {"server"}


def test_a_name_that_is_not_there_is_refused(capsys):
    assert bench.main(["servers"]) == 2
    assert capsys.readouterr().err.startswith("ONLY must be one of world_start, grading, ")


def test_nothing_on_the_page_tells_whose_machine_it_was():
    text = _results.PAGE.read_text(encoding="utf-8") + _results.STORED.read_text(encoding="utf-8")
    assert sys.prefix not in text
    assert not re.search(r"/(root|home|tmp|work)/", text)
