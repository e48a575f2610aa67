"""One child as the grader holds it: how it ended, in words, whatever the operating system says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.items import Build, Case
from autograder.marking.outcome import Outcome
from autograder.running.limits import Limits
from autograder.running.process import Processes, ending
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox, launch
from autograder.submission import Submission, Unit

LIMITS = Limits(imports=60.0, call=60.0, submission=600.0)


def item(function: str = "f") -> Build:
    return Build(f"03 target.{function}", "3.1", "boundary", (), (), ())


@pytest.mark.parametrize("relayed", [False, True])
def test_every_ending_has_words(relayed):
    """Kills a table of signals that is asked for a real-time signal, which has no name, or for none at all."""
    for code in range(-65, 256):
        words = ending(code, relayed)
        assert words.startswith("the process ")
        assert words.isprintable()


@pytest.mark.parametrize(
    ("code", "relayed", "words"),
    [
        (0, False, "the process exited with status 0"),
        (163, False, "the process exited with status 163"),
        (163, True, "the process exited with status 163"),
        (137, False, "the process exited with status 137"),
        (137, True, "the process was ended by SIGKILL"),
        (-11, False, "the process was ended by SIGSEGV"),
        (-60, False, "the process was ended by signal 60"),
    ],
)
def test_an_ending_is_named_as_the_system_names_it(code, relayed, words):
    assert ending(code, relayed) == words


@pytest.mark.parametrize("level", ["best", "none"])
@pytest.mark.parametrize("status", [35 + 128, 255, 137, 0])
def test_a_function_that_exits_is_an_outcome_and_not_the_end_of_the_grading(level, status):
    source = f"import os\n\n\ndef f(x):\n    os._exit({status})\n"
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(Sandbox.measure(level)), LIMITS) as runner:
        (outcome,) = runner.run(item(), [Case((1,))])
    assert outcome.kind == "died"
    assert outcome.detail.startswith("the process ")


@pytest.mark.parametrize("level", ["best", "none"])
def test_an_import_that_exits_is_an_outcome_too(level):
    units = (Unit("cell 1", "import os\nos._exit(163)\n"), Unit("cell 2", "def f(x):\n    return x\n"))
    with Runner(Submission("s", units), Processes(Sandbox.measure(level)), LIMITS) as runner:
        (lost, found) = (runner.run(item(), [Case((1,))])[0] for _ in range(2))
    assert lost.kind == "unloadable"
    assert (found.kind, found.value) == ("value", 1)


@pytest.mark.skipif(sys.platform != "linux", reason="real-time signals have other numbers elsewhere")
def test_a_real_time_signal_is_an_outcome():
    """Without the filter of system calls a function can raise any signal against itself."""
    source = "import os, time\n\n\ndef f(n):\n    os.kill(os.getpid(), n)\n    time.sleep(1000)\n"
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(Sandbox.measure("none")), LIMITS) as runner:
        (outcome,) = runner.run(item(), [Case((35,))])
    assert (outcome.kind, outcome.detail) == ("died", "the process was ended by signal 35")


@pytest.mark.parametrize("level", ["best", "none"])
def test_what_a_child_writes_for_a_while_goes_with_it(level):
    """Kills folders of a library's cache that stay in the grader's /tmp."""
    source = "import os, tempfile\n\n\ndef f(x):\n    return [tempfile.gettempdir(), os.getcwd()]\n"
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(Sandbox.measure(level)), LIMITS) as runner:
        (outcome,) = runner.run(item(), [Case((1,))])
    assert outcome.value[0] == outcome.value[1]


def test_who_takes_too_much_memory_is_told_so():
    """Kills: 'ended by SIGKILL', by which nobody sees what to change."""
    box = Sandbox.measure("best")
    if not any(layer.name == "cgroups" for layer in box.layers):
        pytest.skip("this host has no control groups to give")
    source = "import os\n\n\ndef f(x):\n    pieces = []\n    while True:\n        pieces.append(os.urandom(1 << 22))\n"
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(box), LIMITS) as runner:
        (outcome,) = runner.run(item(), [Case((1,))])
    assert outcome == Outcome("died", detail="the process used more memory than the 256 MiB that it may")


def test_packages_behind_a_symbolic_link_are_found(tmp_path, monkeypatch):
    """Kills: a virtual environment that is a link inside a folder which is shown anyway, and leads out of it."""
    real = launch.site_packages()[0]
    (tmp_path / "venv").symlink_to(Path(real).parents[2])
    linked = str(tmp_path / "venv" / Path(real).relative_to(Path(real).parents[2]))
    paths = launch.sysconfig.get_paths() | {"purelib": linked, "platlib": linked}
    monkeypatch.setattr(launch, "SYSTEM", (*launch.SYSTEM, str(tmp_path)))
    monkeypatch.setattr(launch.sysconfig, "get_paths", lambda: paths)
    monkeypatch.setattr(launch.sys, "path", [path for path in sys.path if not path.endswith("-packages")])
    source = "import numpy\n\n\ndef f(x):\n    return float(numpy.float64(x))\n"
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(Sandbox.measure("best")), LIMITS) as runner:
        (outcome,) = runner.run(item(), [Case((1.0,))])
    assert outcome == Outcome("value", 1.0)
    assert launch.site_packages() == (real,)
