"""The capstone: what a crash leaves on a disk, and whether failure gaps were taken before they were needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.items import Case

Operation = list[Any]


class Disk:
    """The files after some operations; ``torn`` are those of which a crash may leave only a part."""

    def __init__(self, files: dict[str, Any], operations: list[Operation]) -> None:
        self.files, self.torn, self.written = dict(files), set[str](), set[str]()
        does: dict[str, Callable[..., None]] = {
            "write": self._write,
            "sync": self._sync,
            "rename": self._rename,
            "remove": self._remove,
        }
        for kind, *arguments in operations:
            does[kind](*arguments)

    def _write(self, name: str, data: Any) -> None:
        self.files[name] = data
        self.torn.add(name)
        self.written.add(name)

    def _sync(self, name: str) -> None:
        self.torn.discard(name)

    def _rename(self, name: str, to: str) -> None:
        self.files[to] = self.files.pop(name)
        self.torn.discard(to)
        if name in self.torn:
            self.torn = self.torn - {name} | {to}

    def _remove(self, name: str) -> None:
        del self.files[name]
        self.torn.discard(name)


def crashed(case: Case, runs: list[list[Operation]]) -> dict[str, Any]:
    """What a reader finds if the program stops after no operation, after one, and so on, and at its end."""
    files, name, data = case.args
    if [len(operations) for operations in runs] != list(range(len(runs))):
        return {"operations": "not one more in each run"}
    disks = [Disk(files, operations) for operations in runs]
    return {
        "after a crash": sorted({_under(disk, files, name, data) for disk in disks}),
        "at the end": _under(disks[-1], files, name, data),
        "always a whole file somewhere": all(disk.files.keys() - disk.torn for disk in disks),
        "other files left": len(set(disks[-1].files) - {name}),
        "wrote beside it": any(disk.written - {name} for disk in disks),
    }


def failing(_case: Case, answer: dict[str, Any]) -> Any:
    """The run, and whether it took at most one gap more than it had failures: the one before the next failure."""
    run = answer["run"]
    if not isinstance(run, dict) or not isinstance(run.get("failures"), int):
        return run
    return {**run, "gaps were taken": "when needed" if answer["taken"] <= run["failures"] + 1 else "too early"}


def _under(disk: Disk, files: dict[str, Any], name: str, data: Any) -> str:
    if name not in disk.files:
        return "nothing"
    if name in disk.torn:
        return "a part of a checkpoint"
    return "this checkpoint" if disk.files[name] == data else "the last checkpoint" if name in files else "another file"
