"""Where the grader runs the wrong programs of world items: as a submission is run, so that both can be compared.

Real processes and the grader's own process group end a broken contract differently (a wrong size kills a real rank, and
the broker says which sizes do not meet), and only the broker sees a deadlock at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder import closure
from autograder.items import Build, Case, Debug, Slip
from autograder.outcome import Outcome
from autograder.runner import Limits, Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

#: Trusted programs have no budget; one that does not end costs its own case only.
LIMITS = Limits(submission=float("inf"), tensors=float("inf"), answers=float("inf"))
#: The sentence for a debug item that was handed in as it was given.
UNCHANGED = "This is still the program that was given."


def wrong_programs(item: Build) -> tuple[Slip, ...]:
    """The slips of an item, and the program that a debug item gave."""
    slips = tuple(slip for slip in item.slips if slip.program or slip.changes)
    given = item.wrong if isinstance(item, Debug) else None
    new = given is not None and all(slip.program is not given for slip in slips)
    return (*slips, Slip(UNCHANGED, given)) if new else slips


class Bench:
    """The wrong programs of ``items``, each a module of one submission. Its children start on first use."""

    def __init__(self, items: Sequence[Build]) -> None:
        self._items = items
        programs = [(item, slip) for item in items for slip in wrong_programs(item)]
        self._modules = {(item.id, slip): f"slip_{number}" for number, (item, slip) in enumerate(programs)}
        self._programs = programs
        self._runner: Runner | None = None
        self._lock = threading.Lock()

    def run(self, item: Build, slip: Slip, case: Case) -> Outcome:
        """What the program of ``slip`` makes of one case."""
        name = self._modules[item.id, slip]
        function = slip.program.__name__ if slip.program else item.function
        with self._lock:
            if self._runner is None:
                self._runner = Runner(self._submission(), Sandbox.measure("none"), LIMITS, self._items)
            return self._runner.run(replace(item, module=name, function=function), [case])[0]

    def _submission(self) -> Submission:
        names = self._modules.values()
        units = [
            Unit(f"{name}.py", item.source_of(slip), name)
            for (item, slip), name in zip(self._programs, names, strict=True)
        ]
        return Submission("wrong programs", (*units, *self._imported()))

    def _imported(self) -> Iterator[Unit]:
        """What edited references import of their package."""
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
