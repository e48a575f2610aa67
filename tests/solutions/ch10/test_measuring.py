"""The two loops around a device: with a real thread as the device, and against the formula of an overlapped engine."""

from __future__ import annotations

import queue
import threading

import pytest

from solutions.ch10.measuring import device_seconds, overlapped_loop
from solutions.ch10.scheduling import overlap_time


class Clocked:
    """A CPU and a device on clocks of their own, which parts of a step move forward."""

    def __init__(self, schedule: float, compute: float, post: float) -> None:
        self.parts = schedule, compute, post
        self.cpu = self.device = 0.0
        self.left = 0

    def launch(self) -> float:
        self.left -= 1
        self.cpu += self.parts[0]
        self.device = max(self.cpu, self.device) + self.parts[1]
        return self.device

    def process(self, ready: float) -> None:
        self.cpu = max(self.cpu, ready) + self.parts[2]


@pytest.mark.parametrize("parts", [(2, 5, 1), (4, 3, 2), (0.5, 0.1, 3), (1, 1, 1)])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_the_loop_takes_as_long_as_the_formula_says(parts, steps):
    engine = Clocked(*parts)
    engine.left = steps
    assert overlapped_loop(lambda: engine.left > 0, engine.launch, engine.process) == steps
    assert engine.cpu == pytest.approx(overlap_time(steps, *parts))


def test_a_step_is_running_while_the_one_before_it_is_processed():
    """A real thread as the device: when a step is processed, the next one has been handed over already."""
    jobs: queue.SimpleQueue = queue.SimpleQueue()
    launched, seen = [], []

    def serve():
        while (job := jobs.get()) is not None:
            job.set()

    thread = threading.Thread(target=serve)
    thread.start()

    def launch():
        done = threading.Event()
        launched.append(done)
        jobs.put(done)
        return len(launched) - 1, done

    def process(work):
        number, done = work
        assert done.wait(10)
        seen.append((number, len(launched)))

    assert overlapped_loop(lambda: len(launched) < 4, launch, process) == 4
    jobs.put(None)
    thread.join()
    assert seen == [(0, 2), (1, 3), (2, 4), (3, 4)]


def test_the_median_of_calls_from_idle_to_idle():
    """Launches of 1 s, kernels of 3 s (the first of 100 s), and a device that was busy for 50 s."""
    now, free, calls = [0.0], [50.0], [0]

    def work():
        now[0] += 1
        free[0] = max(now[0], free[0]) + (100 if not calls[0] else 3)
        calls[0] += 1

    def wait():
        now[0] = max(now[0], free[0])

    assert device_seconds(work, wait, lambda: now[0], warmups=1, repeats=5) == 4
    assert calls == [6]
