"""Weights in shared memory: slots that processes write and read in place, under rules that all of them share.

    with shared_weights.create(nbytes=8 * MB, slots=2, processes=2) as address:
        world.run(work, address, ranks=2)

    def work(address):
        box = SharedWeights(address, process=dist.get_rank(), rules=WeightSlots(2))
        if dist.get_rank() == 0:
            box.publish(1, fill)  # fill(memory) writes a slot of ``nbytes`` bytes
        else:
            with box.reading() as (memory, version):
                ...

The rules are an object such as ``WeightSlots``, created the same way in every process. Its attributes live in the
shared memory: to call one of its methods, a process locks the file, loads the attributes that the last process stored,
calls the method, and stores them again. So all processes see one state, and any class with the right methods will do. A
process that has to wait sleeps until another process has called a method; nobody polls. The memory is a mapped file, in
``/dev/shm`` where the system has it, and is removed with its folder when :func:`create` ends. Linux and macOS.
"""

from __future__ import annotations

import contextlib
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

from rankzero.world import systems

if systems.can_fork():  # the module can be imported everywhere
    import fcntl

#: Bytes before the first slot. They hold the rules' pickled attributes, and before these their length.
HEADER = 1 << 16
#: Bytes of that length.
LENGTH = 8


class Rules(Protocol):
    """Decides who may write and read which slot; the course's own are in ``solutions.ch14.weight_slots``."""

    def begin_publish(self) -> int | None: ...
    def commit(self, version: int) -> None: ...
    def acquire(self) -> tuple[int, int] | None: ...
    def release(self, slot: int) -> Any: ...


@dataclass(frozen=True)
class Address:
    """What a process needs to know to open the shared weights.

    Attributes:
        folder: folder of the files.
        nbytes: bytes of one slot.
        slots: number of slots.
        processes: number of processes that may open them; they are numbered from 0.
    """

    folder: str
    nbytes: int
    slots: int
    processes: int


@contextlib.contextmanager
def create(nbytes: int, slots: int = 2, processes: int = 2) -> Iterator[Address]:
    """Create slots in shared memory, and remove them when the block ends, even after an error.

    Args:
        nbytes: bytes of one slot; at least 1.
        slots: number of slots; at least 1.
        processes: number of processes that will open them; at least 1.

    Raises:
        ValueError: an argument is less than 1.
        OSError: the system has no room for the slots, or no named pipes.
    """
    for name, value in (("nbytes", nbytes), ("slots", slots), ("processes", processes)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be an integer >= 1, got {value!r}")
    if not systems.can_fork():
        raise OSError(f"weights are shared through named pipes, which Windows does not have: use {systems.ELSEWHERE}")
    with _folder(HEADER + nbytes * slots) as folder:
        for process in range(processes):
            os.mkfifo(_pipe(folder, process))
        yield Address(folder, nbytes, slots, processes)


@contextlib.contextmanager
def _folder(size: int) -> Iterator[str]:
    """A temporary folder with a file ``memory`` of that size, in ``/dev/shm`` if there is room, else on disk."""
    folders = [parent for parent in ("/dev/shm",) if os.access(parent, os.W_OK)] + [tempfile.gettempdir()]
    for parent in folders:
        folder = tempfile.mkdtemp(prefix="rankzero-weights-", dir=parent)
        try:
            try:
                _allocate(f"{folder}/memory", size)
            except OSError:
                if parent == folders[-1]:
                    raise
                continue
            yield folder
            return
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _allocate(path: str, size: int) -> None:
    """Create a file of zeros and allocate its pages, so that a full device is an error now and not a signal later."""
    with Path(path).open("wb") as file:
        file.truncate(size)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)


def _pipe(folder: str, process: int) -> str:
    return f"{folder}/pipe-{process}"


class SharedWeights:
    """The shared weights as one process sees them.

    Args:
        address: from :func:`create`.
        process: number of this process, from 0.
        rules: the rules in their initial state, the same in every process.

    Raises:
        ValueError: ``process`` is out of range.
    """

    def __init__(self, address: Address, process: int, rules: Rules) -> None:
        if process not in range(address.processes):
            raise ValueError(f"process must be from 0 to {address.processes - 1}, got {process!r}")
        self.address, self.process, self._rules = address, process, rules
        self._first = cloudpickle.dumps(vars(rules))
        self._file = os.open(f"{address.folder}/memory", os.O_RDWR)
        self._memory = mmap.mmap(self._file, HEADER + address.nbytes * address.slots)
        flags = os.O_RDWR | os.O_NONBLOCK
        self._pipes = [os.open(_pipe(address.folder, other), flags) for other in range(address.processes)]

    def slot(self, number: int) -> memoryview:
        """The memory of a slot, ``nbytes`` bytes, to be read or written in place."""
        start = HEADER + number * self.address.nbytes
        return memoryview(self._memory)[start : start + self.address.nbytes]

    def ask(self, method: str, *args: Any) -> Any:
        """Call a method of the rules under the lock, and wake the processes that wait.

        Raises:
            ValueError: the rules' attributes take more than 64 KiB. What the method raises is raised as it is.
        """
        with self._locked_rules() as rules:
            answer = getattr(rules, method)(*args)
        self._notify()
        return answer

    def wait(self, method: str, *args: Any) -> Any:
        """Call a method until its answer is not None, sleeping in between until another process has called one."""
        while (answer := self._peek(method, *args)) is None:
            self._wait_for_change()
        self._notify()
        return answer

    def publish(self, version: int, fill: Callable[[memoryview], object]) -> int:
        """Wait for a slot, let ``fill`` write it, commit it under this version, and return the slot's number."""
        slot = self.wait("begin_publish")
        fill(self.slot(slot))
        self.ask("commit", version)
        return slot

    @contextlib.contextmanager
    def reading(self) -> Iterator[tuple[memoryview, int]]:
        """The latest weights and their version, locked while the block runs; waits until there are some."""
        slot, version = self.wait("acquire")
        try:
            yield self.slot(slot), version
        finally:
            self.ask("release", slot)

    def newer(self, version: int | None) -> int:
        """Wait until the latest version is another than this one, and return it."""
        while (found := self.look("version")) is None or found == version:
            self._wait_for_change()
        return found

    def look(self, attribute: str) -> Any:
        """The current value of an attribute of the rules."""
        with self._locked_rules() as rules:
            return getattr(rules, attribute)

    def close(self) -> None:
        """Close the files; memory that a view still refers to stays mapped until the view is gone."""
        with contextlib.suppress(BufferError):
            self._memory.close()
        for file in (self._file, *self._pipes):
            os.close(file)

    def _peek(self, method: str, *args: Any) -> Any:
        with self._locked_rules() as rules:
            return getattr(rules, method)(*args)

    @contextlib.contextmanager
    def _locked_rules(self) -> Iterator[Rules]:
        """The rules, under the lock, with the attributes that were stored last; an error discards the changes."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            length = int.from_bytes(self._memory[:LENGTH], "little")
            kept = self._memory[LENGTH : LENGTH + length] if length else self._first
            vars(self._rules).clear()
            vars(self._rules).update(pickle.loads(kept))
            yield self._rules
            self._store(cloudpickle.dumps(vars(self._rules)))
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _store(self, attributes: bytes) -> None:
        if LENGTH + len(attributes) > HEADER:
            raise ValueError(f"the rules' attributes take {len(attributes)} bytes, more than {HEADER - LENGTH}")
        self._memory[:LENGTH] = len(attributes).to_bytes(LENGTH, "little")
        self._memory[LENGTH : LENGTH + len(attributes)] = attributes

    def _notify(self) -> None:
        """Wake every other process; a full pipe already holds a notification."""
        for process, pipe in enumerate(self._pipes):
            if process != self.process:
                with contextlib.suppress(BlockingIOError):
                    os.write(pipe, b"!")

    def _wait_for_change(self) -> None:
        """Sleep until another process notifies this one; return at once if one has done so since the last call."""
        own = self._pipes[self.process]
        select.select([own], [], [])
        with contextlib.suppress(BlockingIOError):
            os.read(own, 1 << 16)
