"""The capstone: ``debug_atomic``, a checkpoint that survives a crash."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from autograder.items import Case, Debug, Group, Promise, Slip


def wrong_saver(disk, name, data):
    disk.write(name, data)


def _next_save(rng: Random) -> Case:
    step = rng.randint(2, 900)
    return Case(({"latest.pt": f"step {step}"}, "latest.pt", f"step {step + rng.randint(1, 99)}"))


def _first_save(rng: Random) -> Case:
    return Case(({}, rng.choice(("latest.pt", "model.pt")), f"step {rng.randint(1, 99)}"))


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


def _under(disk: Disk, files: dict[str, Any], name: str, data: Any) -> str:
    if name not in disk.files:
        return "nothing"
    if name in disk.torn:
        return "a part of a checkpoint"
    return "this checkpoint" if disk.files[name] == data else "the last checkpoint" if name in files else "another file"


EXERCISE = Debug(
    "cap crash_safe.debug_atomic",
    section="15.7",
    topic="a checkpoint that survives a crash",
    probe="cap.crashed",
    concludes=crashed,
    wrong=wrong_saver,
    cases=(Case(({"latest.pt": "step 10"}, "latest.pt", "step 20")), Case(({}, "latest.pt", "step 10"))),
    groups=(
        Group("the next save", _next_save, 3, "At any moment there is a whole checkpoint under the name."),
        Group("the first save", _first_save, 2, "There is no checkpoint yet: a crash leaves none, or a whole one."),
    ),
    slips=(
        Slip(
            "It is still written in place: a crash in the middle leaves neither the old one nor the new.", wrong_saver
        ),
        Slip(
            "In place and synced: it is safe in the end, but not in the middle.",
            edits=(
                ("disk.write(part", "disk.write(name"),
                ("disk.sync(part", "disk.sync(name"),
                ("disk.rename(part, name)", ""),
            ),
        ),
        Slip(
            "The old one was deleted first: a crash then leaves nothing.",
            edit=(
                "    disk.write(part, data)\n",
                "    try:\n"
                "        disk.remove(name)\n"
                "    except FileNotFoundError:\n"
                "        pass\n"
                "    disk.write(part, data)\n",
            ),
        ),
        Slip(
            "The old one was deleted before the rename, which replaces it: a crash between leaves none.",
            edit=("disk.rename", "disk.remove(name)\n    disk.rename"),
        ),
        Slip("Sync before you rename: a name may reach the disk before the data does.", edit=("disk.sync(part)", "")),
        Slip(
            "The sync comes too late: between rename and sync, only a part may be under the name.",
            edits=(
                ("disk.sync(part)", ""),
                ("disk.rename(part, name)", "disk.rename(part, name)\n    disk.sync(name)"),
            ),
        ),
        Slip(
            "A copy over the old one is a write in place again: rename.",
            edit=("disk.rename(part, name)", "disk.write(name, data)\n    disk.sync(name)\n    disk.remove(part)"),
        ),
        Slip("The new one never gets its name.", edit=("disk.rename(part, name)", "")),
    ),
    promises=(
        Promise(
            "and no other file is left beside it",
            edit=("    disk.rename(part, name)\n", "    disk.rename(part, name)\n    disk.write(part, data)\n"),
        ),
        Promise(
            "a crash at any moment leaves a whole one", edit=("disk.rename", ("disk.remove(name)\n    disk.rename"))
        ),
    ),
)
