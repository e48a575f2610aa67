"""Deadlines: a busy host takes nothing from a program, and a program that waits or sleeps gains nothing by it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from autograder.items import Build, Case
from autograder.marking.outcome import Outcome
from autograder.running import deadlines
from autograder.running.deadlines import Deadline
from autograder.running.limits import Limits
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

SPIN = "while True: pass"
SOURCE = """
import time

def work(seconds):
    "Works until others have taken so many seconds from it."
    began, used = time.monotonic(), time.process_time()
    while time.monotonic() - began - (time.process_time() - used) < seconds:
        pass
    return seconds

def sleep(seconds):
    time.sleep(seconds)

def fork(seconds):
    import os
    for _ in range(8):
        os.fork()
    while True:
        pass
"""


@pytest.fixture
def busy_host() -> Iterator[None]:
    """One processor, for which six others compete."""
    if not deadlines.time_without_processor([os.getpid()]):
        pytest.skip("this host does not say how long a process has waited")
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    # Each in a session of its own: the kernel may share the processor out by sessions, and a child has its own, too.
    others = [subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True) for _ in range(6)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, before)


def asked(function: str, seconds: float, limits: Limits) -> Outcome:
    """What a function gives."""
    item = Build(f"03 target.{function}", "3.1", "boundary", (), (), ())
    with Runner(Submission("s", (Unit("s.py", SOURCE),)), Processes(Sandbox.measure("best")), limits) as runner:
        (outcome,) = runner.run(item, [Case((seconds,))])
        return outcome


@pytest.mark.parametrize(
    "level", [{"call": 0.8}, pytest.param({"submission": 0.8}, marks=pytest.mark.proof(part="systems"))]
)
def test_a_busy_host_takes_nothing_from_a_program(busy_host, level):
    """Kills: a right program that is too slow because of others, in one call and in the time of a submission."""
    assert asked("work", 1.6, Limits(**{"imports": 60.0, "call": 60.0, **level})) == Outcome("value", 1.6)


def test_who_sleeps_gains_nothing_by_it(busy_host):
    """Kills: time that a program sleeps, and is given back as if others had taken it."""
    outcome = asked("sleep", 8.0, Limits(imports=60.0, call=0.5))
    assert outcome == Outcome("timeout", detail="sleep does not return within 0.5 s")


def test_who_makes_the_host_busy_is_ended():
    """Kills: processes of a submission that wait for each other, and so move their deadline without end."""
    outcome = asked("fork", 0.0, Limits(imports=60.0, call=0.3))
    assert outcome.kind in ("timeout", "raised", "died")


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now, self.lost = 100.0, 7.0

    def monotonic(self) -> float:
        return self.now

    def without_processor(self, pids: tuple[int, ...]) -> float:
        return self.lost


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(deadlines.time, "monotonic", made.monotonic)
    monkeypatch.setattr(deadlines, "time_without_processor", made.without_processor)
    return made


def test_a_deadline_is_moved_by_what_was_lost(clock):
    waiting = Deadline([1], 10.0)
    assert (waiting.until, waiting.passed) == (101.0, False)
    clock.now = 101.0
    assert waiting.passed
    assert waiting.extend()
    assert (waiting.until, waiting.extension) == (110.0, 0.0)
    clock.now, clock.lost = 110.0, 10.0
    assert waiting.extend()
    assert (waiting.until, waiting.extension) == (113.0, 3.0)
    clock.now = 113.0
    assert not waiting.extend()


def test_a_deadline_is_moved_only_so_far(clock):
    waiting = Deadline([1], 10.0)
    waiting.extend()
    clock.lost += 1e6
    waiting.extend()
    assert waiting.until == 100.0 + 10.0 * deadlines.MAX_FACTOR


def test_a_process_that_ends_takes_nothing_back(clock):
    """Kills: time that was excused, and is asked back when a process of the child has gone with its account."""
    waiting = Deadline([1], 10.0)
    waiting.extend()
    clock.lost = 12.0
    waiting.extend()
    clock.lost = 0.0
    waiting.extend()
    assert waiting.extension == 5.0


def test_a_host_that_does_not_say_loses_nothing(monkeypatch):
    assert deadlines.process_tree(2**22 + 1) == [2**22 + 1]
    monkeypatch.setattr(deadlines, "_delay", lambda file: 0.0)
    assert deadlines.time_without_processor([os.getpid()]) == 0.0
