"""Weights in shared memory: slots that real processes write and read in place, and one set of rules for all of them.

    with mailbox.shared(nbytes=8 * MB, slots=2, processes=2) as address:
        world.run(work, address, ranks=2)

    def work(address):
        box = Mailbox(address, place=dist.get_rank(), rules=WeightSlots(2))
        if dist.get_rank() == 0:
            box.publish(1, fill)  # fill(memory) writes a slot of ``nbytes`` bytes
        else:
            with box.reading() as (memory, version):
                ...

The rules are an object such as ``WeightSlots``, made the same way in every process. Its attributes travel: a process
that wants to ask it something locks the mailbox, fetches the attributes that the last one left, calls a method, and
puts them back. So one object decides for all, and it may be anybody's. Whoever must wait sleeps until another process
has asked something; nobody polls. The memory is a file that is mapped, in ``/dev/shm`` where the system has it, and it
is removed with its folder when :func:`shared` ends. Linux and macOS.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import pickle
import select
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import cloudpickle

#: Bytes before the first slot: the length of the rules' attributes, and these, pickled.
HEADER = 1 << 16
LENGTH = 8


class Rules(Protocol):
    """Who may write and who may read which slot; ``solutions.ch14.weight_slots`` has the one of the course."""

    def begin_publish(self) -> int | None: ...
    def commit(self, version: int) -> None: ...
    def acquire(self) -> tuple[int, int] | None: ...
    def release(self, slot: int) -> Any: ...


@dataclass(frozen=True)
class Address:
    """Where a mailbox is: what every process is told.

    Attributes:
        folder: of its files.
        nbytes: of one slot.
        slots: how many.
        processes: that may open it, each at its own place from 0.
    """

    folder: str
    nbytes: int
    slots: int
    processes: int


@contextlib.contextmanager
def shared(nbytes: int, slots: int = 2, processes: int = 2) -> Iterator[Address]:
    """Make a mailbox, and remove it and its memory in the end, whatever happened.

    Args:
        nbytes: of one slot; at least 1.
        slots: how many; at least 1.
        processes: that will open it; at least 1.

    Raises:
        ValueError: an argument is less than 1.
        OSError: the system has no room for it.
    """
    for name, value in (("nbytes", nbytes), ("slots", slots), ("processes", processes)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be an integer >= 1, got {value!r}")
    with _folder(HEADER + nbytes * slots) as folder:
        for place in range(processes):
            os.mkfifo(_bell(folder, place))
        yield Address(folder, nbytes, slots, processes)


@contextlib.contextmanager
def _folder(size: int) -> Iterator[str]:
    """A folder with a file ``memory`` of that size, in memory where there is room, else on disk."""
    places = [place for place in ("/dev/shm",) if os.access(place, os.W_OK)] + [tempfile.gettempdir()]
    for place in places:
        folder = tempfile.mkdtemp(prefix="rankzero-mailbox-", dir=place)
        try:
            try:
                _allocate(f"{folder}/memory", size)
            except OSError:
                if place == places[-1]:
                    raise
                continue
            yield folder
            return
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _allocate(path: str, size: int) -> None:
    """A file of zeros whose pages are there: a full device is an error now, not a signal later."""
    with Path(path).open("wb") as file:
        file.truncate(size)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)


def _bell(folder: str, place: int) -> str:
    return f"{folder}/bell-{place}"


class Mailbox:
    """One process's side.

    Args:
        address: from :func:`shared`.
        place: this process's own number, from 0.
        rules: in their first state, the same in every process.

    Raises:
        ValueError: there is no such place.
    """

    def __init__(self, address: Address, place: int, rules: Rules) -> None:
        if place not in range(address.processes):
            raise ValueError(f"place must be from 0 to {address.processes - 1}, got {place!r}")
        self.address, self.place, self._rules = address, place, rules
        self._first = cloudpickle.dumps(vars(rules))
        self._file = os.open(f"{address.folder}/memory", os.O_RDWR)
        self._memory = mmap.mmap(self._file, HEADER + address.nbytes * address.slots)
        flags = os.O_RDWR | os.O_NONBLOCK
        self._bells = [os.open(_bell(address.folder, other), flags) for other in range(address.processes)]

    def slot(self, number: int) -> memoryview:
        """The memory of a slot, ``nbytes`` bytes, to be read or written in place."""
        start = HEADER + number * self.address.nbytes
        return memoryview(self._memory)[start : start + self.address.nbytes]

    def ask(self, method: str, *args: Any) -> Any:
        """Call a method of the rules while nobody else does, and wake who waits.

        Raises:
            ValueError: the rules' attributes have grown beyond 64 KiB; or what the method raises.
        """
        with self._turn() as rules:
            answer = getattr(rules, method)(*args)
        self._ring()
        return answer

    def wait(self, method: str, *args: Any) -> Any:
        """Ask until the answer is not None, sleeping in between until another process has asked something."""
        while (answer := self._peek(method, *args)) is None:
            self._sleep()
        self._ring()
        return answer

    def publish(self, version: int, fill: Callable[[memoryview], object]) -> int:
        """Wait for a slot, let ``fill`` write it, and commit it under this version; returns the slot."""
        slot = self.wait("begin_publish")
        fill(self.slot(slot))
        self.ask("commit", version)
        return slot

    @contextlib.contextmanager
    def reading(self) -> Iterator[tuple[memoryview, int]]:
        """The latest weights and their version, held while the block runs; waits for the first ones."""
        slot, version = self.wait("acquire")
        try:
            yield self.slot(slot), version
        finally:
            self.ask("release", slot)

    def newer(self, version: int | None) -> int:
        """Wait until a version other than this one is the latest, and return it."""
        while (found := self.look("version")) is None or found == version:
            self._sleep()
        return found

    def look(self, attribute: str) -> Any:
        """An attribute of the rules as it is now."""
        with self._turn() as rules:
            return getattr(rules, attribute)

    def close(self) -> None:
        """Let go of the files; memory that is still looked at stays until nobody does."""
        with contextlib.suppress(BufferError):
            self._memory.close()
        for file in (self._file, *self._bells):
            os.close(file)

    def _peek(self, method: str, *args: Any) -> Any:
        with self._turn() as rules:
            return getattr(rules, method)(*args)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[Rules]:
        """The rules with the attributes that the last process left; what an error leaves is not kept."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            length = int.from_bytes(self._memory[:LENGTH], "little")
            kept = self._memory[LENGTH : LENGTH + length] if length else self._first
            vars(self._rules).clear()
            vars(self._rules).update(pickle.loads(kept))
            yield self._rules
            self._keep(cloudpickle.dumps(vars(self._rules)))
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _keep(self, attributes: bytes) -> None:
        if LENGTH + len(attributes) > HEADER:
            raise ValueError(f"the rules' attributes take {len(attributes)} bytes, more than a mailbox keeps")
        self._memory[:LENGTH] = len(attributes).to_bytes(LENGTH, "little")
        self._memory[LENGTH : LENGTH + len(attributes)] = attributes

    def _ring(self) -> None:
        """Ring everybody else's bell; one that rings already needs no more."""
        for place, bell in enumerate(self._bells):
            if place != self.place:
                with contextlib.suppress(BlockingIOError):
                    os.write(bell, b"!")

    def _sleep(self) -> None:
        """Until somebody has rung, since the last time too."""
        own = self._bells[self.place]
        select.select([own], [], [])
        with contextlib.suppress(BlockingIOError):
            os.read(own, 1 << 16)
