"""A server's memory over time as requests arrive, grow by a token per step and leave: full reservations or blocks.

    trace = requests("chat")
    reserved, paged = play(trace, Contiguous(2048)), play(trace, Blocks(128, 16))

Standard library only. Every number is counted in the allocator that handed out the memory.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from rankzero import checks
from solutions.ch09.block_pool import BlockPool

#: A piece of memory: its slots, its holder (None if it is free), and how many of its slots contain a token.
Strip = tuple[int, str | None, int]


@dataclass(frozen=True)
class Job:
    """A request for memory.

    Attributes:
        name: of its own.
        arrival: step at which it arrives.
        prompt: tokens that it brings.
        output: tokens that it will generate, one per step; not known in advance.
        limit: the most tokens it may generate, which is what it asks for.
    """

    name: str
    arrival: int
    prompt: int
    output: int
    limit: int


#: Kinds of traces: steps between arrivals, requests that arrive together, median and spread of the output.
KINDS = {"chat": (5, 1, 70, 0.7), "bursty": (60, 12, 50, 1.0)}


def requests(kind: str = "chat", count: int = 36, limit: int = 400, seed: int = 9) -> list[Job]:
    """A trace: prompts of 20 to 200 tokens, outputs of unequal length, all with the same limit.

    Args:
        kind: "chat", one after another, or "bursty", many at once.
        count: of requests.
        limit: tokens that an output may have.
        seed: of the draws; the same one gives the same trace.
    """
    checks.one_of(KINDS, kind=kind)
    gap, together, median, spread = KINDS[kind]
    rng = Random(seed)
    jobs = []
    for index in range(count):
        output = min(limit, max(1, round(rng.lognormvariate(math.log(median), spread))))
        jobs.append(Job(f"r{index}", index // together * gap, rng.randint(20, 200), output, limit))
    return jobs


class MemoryModel(Protocol):
    """The interface that :func:`play` needs from a memory."""

    slots: int

    def admit(self, job: Job) -> bool:
        """Take a new request in, with its prompt; False when there is no room."""

    def grow(self, job: Job) -> bool:
        """Make room for one more token; False if there is none."""

    def leave(self, job: Job) -> None:
        """Give back what a request holds."""

    def strips(self, lengths: Mapping[str, int]) -> list[Strip]:
        """The memory from its first slot to its last."""


def first_hole(held: Sequence[tuple[int, int]], size: int, slots: int) -> int | None:
    """The start of the first hole of ``size`` slots between pieces ``(start, size)``; None if there is none."""
    start = 0
    for begin, length in [*sorted(held), (slots, 0)]:
        if begin - start >= size:
            return start
        start = begin + length
    return None


class Contiguous:
    """Memory in which a request reserves all the slots it may ever need, in one piece.

    Args:
        slots: of the memory.
        reserve: ``(held, size, slots) -> start``, as :func:`first_hole`.
    """

    def __init__(self, slots: int, reserve: Callable[..., int | None] = first_hole) -> None:
        self.slots = slots
        self._held: list[tuple[int, int, str]] = []  # start, size, name; in the order of the memory
        self._reserve = reserve

    def admit(self, job: Job) -> bool:
        """Reserve the prompt and the whole limit in the hole that ``reserve`` finds."""
        size = job.prompt + job.limit
        start = self._reserve([held[:2] for held in self._held], size, self.slots)
        if start is None:
            return False
        self._held = sorted([*self._held, (start, size, job.name)])
        return True

    def grow(self, job: Job) -> bool:
        """Always True: the slot was reserved from the beginning."""
        return True

    def leave(self, job: Job) -> None:
        """Give the whole reservation back."""
        self._held = [held for held in self._held if held[2] != job.name]

    def strips(self, lengths: Mapping[str, int]) -> list[Strip]:
        """Reservations and the holes between them."""
        found: list[Strip] = []
        place = 0
        for start, size, name in self._held:
            found += [(start - place, None, 0)] if start > place else []
            found.append((size, name, lengths[name]))
            place = start + size
        return found + ([(self.slots - place, None, 0)] if place < self.slots else [])


class Paged:
    """Memory in blocks: a request holds the blocks that its tokens need now.

    Args:
        manager: a new :class:`.block_pool.BlockPool`, or one with the same methods.
        blocks, block_size: the numbers that it was made with.
        blocks_for: the blocks that a number of tokens needs; None rounds up.
    """

    def __init__(
        self, manager: Any, blocks: int, block_size: int, blocks_for: Callable[[int], int] | None = None
    ) -> None:
        self.slots = blocks * block_size
        self._manager, self._blocks, self._size = manager, blocks, block_size
        self._blocks_for = blocks_for or (lambda tokens: -(-tokens // block_size))
        self._lengths: dict[str, int] = {}

    def admit(self, job: Job) -> bool:
        """Blocks for the prompt and the first token."""
        if self._blocks_for(job.prompt + 1) > len(self._manager.free_queue()):
            return False
        self._manager.allocate(job.name, job.prompt)
        self._lengths[job.name] = job.prompt
        return True

    def grow(self, job: Job) -> bool:
        """Take another block if the last one is full."""
        length = self._lengths[job.name]
        if self._blocks_for(length + 1) - self._blocks_for(length) > len(self._manager.free_queue()):
            return False
        self._manager.append(job.name)
        self._lengths[job.name] += 1
        return True

    def leave(self, job: Job) -> None:
        """Give the blocks back."""
        self._manager.free(job.name)
        del self._lengths[job.name]

    def strips(self, lengths: Mapping[str, int]) -> list[Strip]:
        """Block by block, as they lie in the pool."""
        found: dict[int, Strip] = {}
        for name, length in lengths.items():
            for index, block in enumerate(self._manager.table(name)):
                found[block] = self._size, name, min(self._size, length - index * self._size)
        return [found.get(block, (self._size, None, 0)) for block in range(self._blocks)]


class Blocks(Paged):
    """The same with a pool of its own."""

    def __init__(self, blocks: int, block_size: int, blocks_for: Callable[[int], int] | None = None) -> None:
        super().__init__(BlockPool(blocks, block_size), blocks, block_size, blocks_for)


@dataclass(frozen=True)
class Moment:
    """The memory after one step.

    Attributes:
        step: counted from 0.
        running, waiting: requests.
        strips: the memory, piece by piece.
        unused: held slots that will never contain a token, because the request ends first.
    """

    step: int
    running: int
    waiting: int
    strips: tuple[Strip, ...]
    unused: int

    @property
    def used(self) -> int:
        """Slots with a token."""
        return sum(used for _, _, used in self.strips)

    @property
    def held(self) -> int:
        """Slots that some request holds."""
        return sum(size for size, owner, _ in self.strips if owner is not None)

    @property
    def free(self) -> int:
        """Slots that nobody holds."""
        return sum(size for size, owner, _ in self.strips if owner is None)

    @property
    def parts(self) -> dict[str, int]:
        """The slots by purpose; their sum is the whole memory.

        Slots that a running request will fill later are *reserved*; slots that it holds but will never fill are wasted
        *inside*; free slots are wasted *outside* while a request is waiting that does not fit into them.
        """
        outside = self.free if self.waiting else 0
        inside = self.unused
        reserved = self.held - self.used - inside
        return {
            "tokens": self.used,
            "reserved": reserved,
            "inside": inside,
            "outside": outside,
            "free": self.free - outside,
        }


@dataclass(frozen=True)
class Played:
    """A trace in a memory.

    Attributes:
        moments: one for each step.
        preempted: how often a request lost its memory and had to begin again.
    """

    moments: tuple[Moment, ...]
    preempted: int

    @property
    def steps(self) -> int:
        """Number of steps until the last request has left."""
        return len(self.moments)

    @property
    def most(self) -> int:
        """The most requests running at once."""
        return max(moment.running for moment in self.moments)

    @property
    def fullest(self) -> Moment:
        """The first moment with most slots held."""
        return max(self.moments, key=lambda moment: (moment.held, -moment.step))

    def shares(self) -> dict[str, float]:
        """The parts of the memory, averaged over the steps in which a request waits; over all steps if none does."""
        chosen = [moment for moment in self.moments if moment.waiting] or self.moments
        sums: Counter[str] = Counter()
        for moment in chosen:
            sums.update(moment.parts)
        return {part: count / sum(sums.values()) for part, count in sums.items()}


def play(jobs: Sequence[Job], memory: MemoryModel) -> Played:
    """Run a trace: first come, first served; one token a step for every request that is in.

    When a request cannot grow, the one admitted last gives its memory back and starts over when its turn comes again.

    Args:
        jobs: by arrival; each of them must fit into the empty memory.
        memory: empty.

    Raises:
        ValueError: a request does not fit into the empty memory.
    """
    coming, waiting = deque(jobs), deque[Job]()
    running: dict[str, Job] = {}
    lengths: dict[str, int] = {}
    moments, preempted = list[Moment](), 0
    while coming or waiting or running:
        while coming and coming[0].arrival <= len(moments):
            waiting.append(coming.popleft())
        while waiting and memory.admit(waiting[0]):
            job = waiting.popleft()
            running[job.name], lengths[job.name] = job, job.prompt
        if waiting and not running:
            raise ValueError(f"{waiting[0].name} must fit into a memory of {memory.slots} slots")
        for job in list(running.values()):
            while job.name in running and not memory.grow(job):
                last = list(running.values())[-1]
                if len(running) == 1:
                    raise ValueError(f"{job.name} must fit into a memory of {memory.slots} slots")
                memory.leave(last)
                del running[last.name], lengths[last.name]
                waiting.appendleft(last)
                preempted += 1
            if job.name in running:
                lengths[job.name] += 1
        strips = tuple(memory.strips(lengths))
        moments.append(Moment(len(moments), len(running), len(waiting), strips, _unused(strips, running)))
        for job in [job for job in running.values() if lengths[job.name] == job.prompt + job.output]:
            memory.leave(job)
            del running[job.name], lengths[job.name]
    return Played(tuple(moments), preempted)


def _unused(strips: Sequence[Strip], running: Mapping[str, Job]) -> int:
    """Held slots that will never contain a token: those beyond a request's last token."""
    held: Counter[str] = Counter()
    for size, owner, _ in strips:
        if owner is not None:
            held[owner] += size
    return sum(max(0, held[name] - job.prompt - job.output) for name, job in running.items())
