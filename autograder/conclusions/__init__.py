"""What the grader concludes from a driver's answer; see :mod:`autograder.probes`.

A driver runs beside the submission, which can forge whatever the driver says. A driver therefore returns what happened
(values, orders, recorded operations), and the grader concludes here, in its own process, whether that is right: from
the answer of a submission in the same way as from that of the reference. The answers of a driver without an entry here
are compared as they are.

``conclusion(case, answer)`` returns what is compared. It has to take any answer; for one that no honest driver sends it
may raise one of :data:`ODD`, which counts as no answer. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.conclusions import cap, ch07, ch08, ch10, ch14
from autograder.items import Case

#: The exceptions that a conclusion may raise for an answer that no honest driver sends.
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
    "ch14_weights.shared": ch14.shared,
}
