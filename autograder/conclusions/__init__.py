"""What the grader makes of what a driver brought back; see :mod:`autograder.probes`.

A driver runs beside the submission, so whatever it says is the submission's word. It therefore hands back what happened
(values, orders, recorded operations), and whether that is right is concluded here, in the grader's own process: from
the answer of a submission as from that of the reference. A driver without an entry here hands back values that are
compared as they are.

``conclusion(case, answer)`` gives what is compared. It takes any answer: what an honest driver never sends may raise
one of :data:`ODD`, and is then no answer. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.conclusions import cap, ch07, ch08, ch10
from autograder.items import Case

#: What a conclusion may raise for an answer that no honest driver sends.
ODD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

#: The conclusions by the name of the driver.
BY_DRIVER: dict[str, Callable[[Case, Any], Any]] = {
    "cap.crashed": cap.crashed,
    "ch07.pipelined": ch07.pipelined,
    "ch07_schedules.timed": ch07.timed,
    "ch08.two_processes": ch08.two_processes,
    "ch08_batches.batched": ch08.batched,
    "ch10.beside": ch10.beside,
    "ch10_graphs.batches": ch10.batches,
}
