"""How much room on the disk a submission takes where it has no file system of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.items import Build, Case
from autograder.marking.outcome import Outcome
from autograder.running.limits import Limits
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox, room
from autograder.submission import Submission, Unit

LIMITS = Limits(imports=60.0, call=60.0, submission=600.0)


def item(function: str) -> Build:
    return Build(f"03 target.{function}", "3.1", "boundary", (), (), ())


#: How a function fills the disk with files of which none is large.
FILLING = {
    "files": "open(f'n{n}', 'wb').write(bytes(1 << 20)); time.sleep(0.002)",
    "folders": "os.makedirs(f'd{n}/d'); open(f'd{n}/d/n', 'wb').write(bytes(1 << 20)); time.sleep(0.002)",
    "no names": "held.append(open('n', 'wb')); os.unlink('n'); held[-1].write(bytes(1 << 23)); time.sleep(0.01)",
    "empty files": "open(f'n{n}', 'w').close()",
}


@pytest.mark.parametrize("level", ["best", "none"])
@pytest.mark.parametrize("kind", FILLING)
def test_many_files_take_no_more_room_than_one_may(kind, level):
    """Kills limits that bound every file and not their sum, by which one submission fills the grader's disk."""
    source = "import itertools, os, time\n\n\ndef fill(x):\n    held = []\n"
    source += f"    for n in itertools.count():\n        {FILLING[kind]}\n"
    source += "\n\ndef fine(x):\n    open('n', 'wb').write(bytes(1 << 22))\n    return x + 1\n"
    box = Sandbox.measure(level, ["bubblewrap"] if level == "best" else [])
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(box), LIMITS) as runner:
        (outcome,) = runner.run(item("fill"), [Case((1,))])
        (after,) = runner.run(item("fine"), [Case((1,))])
    assert outcome == Outcome("died", detail="the process wrote more to its folder than the 64 MiB that it may")
    assert after.value == 2


def test_room_is_not_taken_without_writing():
    """Kills a filter that lets a file grow by gigabytes in a millisecond, between two looks."""
    box = Sandbox.measure("best")
    if not any(layer.name == "seccomp" for layer in box.layers):
        pytest.skip(box.line)
    source = "import os\n\n\ndef f(x):\n    os.posix_fallocate(os.open('n', os.O_RDWR | os.O_CREAT), 0, 1 << 20)\n"
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(box), LIMITS) as runner:
        (outcome,) = runner.run(item("f"), [Case((1,))])
    assert (outcome.kind, outcome.error) == ("raised", "PermissionError")


@pytest.mark.parametrize("mode", [0o300, 0o000])
def test_a_folder_that_hides_what_is_written_into_it_is_full(mode, tmp_path, monkeypatch):
    """Whoever is root can look into every folder, so the refusal is made here."""
    (tmp_path / "hidden").mkdir(mode=mode)
    scandir = os.scandir

    def refusing(path):
        if Path(path).name == "hidden":
            raise PermissionError
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert room.overfull(str(tmp_path), os.getpid()) is bool(mode)
