"""The milestone "survive": the disk of one rank, which the grader holds, and what a crash leaves on it."""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Sequence
from random import Random
from typing import Any, Literal, get_args

from autograder.items import NoQuestion

#: What can be asked of a disk, with names of files, and the content of a write in base64.
Operation = Literal["names", "read", "write", "sync", "rename", "remove"]
ARGUMENTS: dict[Operation, int] = {"names": 0, "read": 1, "write": 2, "sync": 1, "rename": 2, "remove": 1}
OPERATIONS = frozenset(get_args(Operation))
#: Most files on a disk, and most bytes of all together.
FILES, ROOM = 100, 16 << 20


class Disk:
    """Files by name.

    Attributes:
        files: what a reader finds.
        newest: the file that was written or renamed last.
        written: bytes of all writes.
        most: files that were there at once.
        overwritten: a whole file that was there before a write into it was cut off; else empty.
        lost: a file that was not synced when the machine crashed; else empty.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.newest, self.overwritten, self.lost = "", "", ""
        self.written, self.most = 0, 0
        self._loose: set[str] = set()  # written, and not synced since
        self._torn: set[str] = set()  # written in part

    def answer(self, kind: Operation, given: Sequence[Any]) -> dict[str, Any]:
        """Carry out what a driver asks: ``{"value": ...}``, ``{"missing": name}`` or ``{"full": name}``.

        Raises:
            NoQuestion: no driver asks this.
        """
        if len(given) != ARGUMENTS[kind] or any(type(text) is not str for text in given):
            raise NoQuestion
        if kind == "names":
            return {"value": sorted(self.files)}
        if kind == "write":
            return self._write(given[0], content_of(given[1]))
        if given[0] not in self.files:
            return {"missing": given[0]}
        if kind == "read":
            return {"value": b2a_base64(self.files[given[0]], newline=False).decode()}
        getattr(self, f"_{kind}")(*given)
        return {"value": None}

    def cut(self, name: str, content: bytes, part: float) -> None:
        """A write that ends after this part of its content, because who wrote has been killed."""
        self.overwritten = name if name in self.files and name not in self._torn else ""
        self._write(name, content[: int(part * len(content))])
        self._torn.add(name)

    def _write(self, name: str, content: bytes) -> dict[str, Any]:
        others = sum(len(data) for other, data in self.files.items() if other != name)
        if others + len(content) > ROOM or len({*self.files, name}) > FILES:
            return {"full": name}
        self.files[name], self.newest = content, name
        self._loose.add(name)
        self._torn.discard(name)
        self.written += len(content)
        self.most = max(self.most, len(self.files))
        return {"value": None}

    def _sync(self, name: str) -> None:
        self._loose.discard(name)

    def _rename(self, name: str, to: str) -> None:
        self.files[to], self.newest = self.files.pop(name), to
        loose = name in self._loose
        self._loose -= {name, to}
        self._loose |= {to} if loose else set()

    def _remove(self, name: str) -> None:
        del self.files[name]
        self._loose.discard(name)

    # What happens to it.

    def crash(self, rng: Random) -> None:
        """The machine crashes: of every file that was not synced, a part is there."""
        for name in sorted(self._loose):
            self.lost = name
            self.files[name] = self.files[name][: int(rng.uniform(0.1, 0.9) * len(self.files[name]))]

    def damage(self, rng: Random) -> None:
        """Eight bytes of the newest file turn into others."""
        if self.newest in self.files:
            data = self.files[self.newest]
            start = int(rng.uniform(0.4, 0.6) * len(data))
            inverted = bytes(255 - byte for byte in data[start : start + 8])
            self.files[self.newest] = data[:start] + inverted + data[start + 8 :]


def content_of(text: Any) -> bytes:
    """The content of a write, as a driver sends it.

    Raises:
        NoQuestion: no driver sends this.
    """
    try:
        return a2b_base64(text, strict_mode=True)
    except (Error, TypeError, ValueError):
        raise NoQuestion from None
