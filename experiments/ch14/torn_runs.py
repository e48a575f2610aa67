"""A writer and a reader on the same shared memory under three rules, and what the reader sees.

    run = race("pinned", seconds=0.5)
    run.reads, run.torn

The writer fills a slot with its version, again and again; the reader copies the latest slot and looks whether all of it
is of one version. Two real processes, no pause.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist

from rankzero import checks, world
from rankzero.facts.units import MB
from rankzero.world import shared_weights
from rankzero.world.shared_weights import Address, Rules, SharedWeights
from solutions.ch14.weight_slots import WeightSlots


class SingleBuffer:
    """One slot without any rule: written and read at any time."""

    def __init__(self) -> None:
        self.latest: int | None = None
        self.version: int | None = None

    def begin_publish(self) -> int | None:
        return 0

    def commit(self, version: int) -> None:
        self.latest, self.version = 0, version

    def acquire(self) -> tuple[int, int] | None:
        return None if self.version is None else (0, self.version)

    def release(self, slot: int) -> None:
        """Nothing to release: this mode pins no slot."""


class CheckedSlots:
    """Two slots in turn with a version each: a reader checks the version again after reading. No slot is pinned."""

    def __init__(self) -> None:
        self.latest: int | None = None
        self.version: int | None = None
        self.held: list[int | None] = [None, None]

    def begin_publish(self) -> int | None:
        slot = 1 if self.latest == 0 else 0
        self.held[slot] = None
        return slot

    def commit(self, version: int) -> None:
        self.latest = 1 if self.latest == 0 else 0
        self.held[self.latest] = self.version = version

    def acquire(self) -> tuple[int, int] | None:
        return None if self.latest is None or self.version is None else (self.latest, self.version)

    def release(self, slot: int) -> None:
        """Nothing to release: this mode pins no slot."""

    def intact(self, slot: int, version: int) -> bool:
        """Whether nothing else was written there in the meantime."""
        return self.held[slot] == version


#: The slots of each mode.
MODES = {"single": 1, "versioned": 2, "pinned": 2}


@dataclass(frozen=True)
class Use:
    """One look at a slot, or one writing of it.

    Attributes:
        who: "writer" or "reader".
        slot: which.
        version: that was written, or that the reader was told.
        start, end: seconds from the common start.
        fate: "written"; "whole", "torn" or "retried" (the check after reading said no, and the copy was dropped).
    """

    who: str
    slot: int
    version: int
    start: float
    end: float
    fate: str


@dataclass(frozen=True)
class Race:
    """The record of a run.

    Attributes:
        mode: "single", "versioned" or "pinned".
        uses: of both processes, each in the order of time.
    """

    mode: str
    uses: tuple[Use, ...]

    @property
    def reads(self) -> int:
        """Copies that the reader kept."""
        return self.count("whole") + self.torn

    @property
    def torn(self) -> int:
        """Copies that were kept and hold two versions."""
        return self.count("torn")

    @property
    def versions(self) -> int:
        """Times that the writer published."""
        return self.count("written")

    @property
    def backward(self) -> int:
        """Reads that were told an older version than the read before."""
        told = [use.version for use in self.uses if use.fate in ("whole", "torn")]
        return sum(after < before for before, after in itertools.pairwise(told))

    def count(self, fate: str) -> int:
        """Uses with this fate."""
        return sum(use.fate == fate for use in self.uses)


def race(
    mode: str,
    seconds: float = 2.0,
    nbytes: int = int(8 * MB),
    slots_class: Callable[[int], Rules] = WeightSlots,
) -> Race:
    """Let a writer and a reader race for a while.

    Args:
        mode: "single" (one buffer, no rule), "versioned" (two slots, checked after reading) or "pinned".
        seconds: how long; positive.
        nbytes: of a slot; a multiple of 8.
        slots_class: whose rules hold where slots are pinned.

    Raises:
        WorldError: a process failed.
    """
    checks.one_of(MODES, mode=mode)
    checks.require(nbytes > 0 and nbytes % 8 == 0, "be a positive multiple of 8", nbytes=nbytes)
    with shared_weights.create(nbytes, MODES[mode]) as address:
        run = world.run(_work, address, mode, seconds, slots_class, ranks=2, timeout=seconds + 30)
    return Race(mode, tuple(Use(*row) for rows in run.values for row in rows))


def _rules(mode: str, slots_class: Callable[[int], Rules]) -> Rules:
    if mode == "pinned":
        return slots_class(MODES[mode])
    return SingleBuffer() if mode == "single" else CheckedSlots()


def _work(address: Address, mode: str, seconds: float, slots_class: Callable[[int], Rules]) -> list[tuple]:
    """On both ranks: the writer's uses on rank 0, the reader's on rank 1."""
    box = SharedWeights(address, dist.get_rank(), _rules(mode, slots_class))
    dist.barrier()
    start = time.monotonic()
    rows = list[tuple]()
    while not rows or time.monotonic() < start + seconds:
        rows.append(_write(box, len(rows) + 1, start) if box.process == 0 else _read(box, mode == "versioned", start))
    return rows


def _write(box: SharedWeights, version: int, start: float) -> tuple:
    slot = box.wait("begin_publish")
    began = time.monotonic()
    numbers(box.slot(slot)).fill_(version)
    ended = time.monotonic()
    box.ask("commit", version)
    return "writer", slot, version, began - start, ended - start, "written"


def _read(box: SharedWeights, checked: bool, start: float) -> tuple:
    slot, version = box.wait("acquire")
    began = time.monotonic()
    copy = numbers(box.slot(slot)).clone()
    ended = time.monotonic()
    intact = not checked or box.ask("intact", slot, version)
    box.ask("release", slot)
    fate = ("torn" if (copy != copy[0]).any() else "whole") if intact else "retried"
    return "reader", slot, version, began - start, ended - start, fate


def rows(run: Race, seconds: float) -> dict[str, list[tuple[str, float, float]]]:
    """The first ``seconds`` of a run for :func:`rankzero.figures.serving.timelines`: who was in which slot when."""
    early = [use for use in run.uses if use.start < seconds]
    places = [(who, slot) for slot in sorted({use.slot for use in early}) for who in ("writer", "reader")]
    return {
        f"{who}, slot {slot}": [(use.fate, use.start, use.end) for use in early if (use.who, use.slot) == (who, slot)]
        for who, slot in places
    }


def numbers(memory: memoryview) -> torch.Tensor:
    """A slot as integers of 8 bytes, in place."""
    return torch.frombuffer(memory, dtype=torch.int64)


# A handle whose owner is gone.


def handed_over(waits: bool) -> str:
    """What a consumer receives when another process puts a tensor on a queue of ``torch.multiprocessing``.

    The queue carries a handle; the memory is fetched from the producer, which must still be there.

    Args:
        waits: whether the producer stays until the tensor is taken, or ends at once.

    Returns:
        The numbers, or the name of the error.
    """
    return world.run(_hand_over, waits, ranks=1, timeout=30).values[0]


def _hand_over(waits: bool) -> str:
    context = torch.multiprocessing.get_context("fork")
    queue, taken = context.Queue(), context.Event()

    def produce() -> None:
        queue.put(torch.arange(4))
        if waits:
            taken.wait()

    process = context.Process(target=produce)
    process.start()
    if not waits:
        process.join()
    try:
        return str(queue.get().tolist())
    except OSError as error:
        return type(error).__name__
    finally:
        taken.set()
        process.join()
