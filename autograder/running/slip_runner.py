"""Runs the wrong programs of tensor and world items in the same way as a submission, so that both can be compared.

Real process groups and the grader's own one fail differently: when sizes do not match, a real rank dies, while the
broker says which sizes they are. And only the broker detects a deadlock at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from autograder import closure
from autograder.items import Build, Case, Slip
from autograder.marking.outcome import Outcome
from autograder.marking.papers import wrong_programs
from autograder.running.limits import Limits
from autograder.running.runner import Runner
from autograder.running.transport import Transport
from autograder.submission import Submission, Unit

#: Trusted programs have no overall budget; one that does not end only loses its own case.
LIMITS = Limits(submission=float("inf"), tensors=float("inf"), answers=float("inf"))


class SlipRunner:
    """Runs the wrong programs of ``items``, as modules of one submission whose children start on first use.

    ``transport`` is called on first use, too.
    """

    def __init__(self, items: Sequence[Build], transport: Callable[[], Transport]) -> None:
        self._items, self._transport = items, transport
        programs = [(item, slip) for item in items for slip in wrong_programs(item)]
        self._modules = {(item.id, slip): f"slip_{number}" for number, (item, slip) in enumerate(programs)}
        self._programs = programs
        self._runner: Runner | None = None
        self._lock = threading.Lock()

    def run(self, item: Build, slip: Slip, case: Case) -> Outcome:
        """The outcome of the program of ``slip`` for one case."""
        name = self._modules[item.id, slip]
        function = slip.program.__name__ if slip.program else item.function
        with self._lock:
            if self._runner is None:
                self._runner = Runner(self._submission(), self._transport(), LIMITS, self._items)
            return self._runner.run(item.moved_to(name, function), [case])[0]

    def _submission(self) -> Submission:
        names = self._modules.values()
        units = [
            Unit(f"{name}.py", item.source_of(slip), name)
            for (item, slip), name in zip(self._programs, names, strict=True)
        ]
        return Submission("wrong programs", (*units, *self._imported()))

    def _imported(self) -> Iterator[Unit]:
        """The modules of ``solutions`` that edited references import."""
        edited = {item.home for item, slip in self._programs if slip.changes}
        for name, file in closure.modules(f"solutions.{module}" for module in edited).items():
            if name.startswith("solutions.") and file.name != "__init__.py":
                yield Unit(file.name, file.read_text(encoding="utf-8"), file.stem)

    def close(self) -> None:
        """End the children."""
        with self._lock:
            if self._runner is not None:
                self._runner.close()
                self._runner = None
