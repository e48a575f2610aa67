"""A deadlock, seen from outside: every rank waits for another, and nothing in any of them moves any more.

A rank says in its slot (:mod:`rankzero.world.call_log`) which operation it waits in, and whether only another rank can
end the wait: no other thread of Python, no GPU and no time limit of its own will. When all ranks that have not finished
say so, the supervisor looks at the threads of all ranks, those of Gloo included. If every thread sleeps and none has
run for :data:`STILL` seconds, no byte is on its way between ranks, and no rank has a child process, then nothing is
left that could wake anybody. Two kinds of threads do wake up by themselves: Gloo's loop, which must then have read and
written nothing, and a rank that waits for a key of the store, whose file must not have grown.

A rank that computes, sleeps, is stopped, starts up or waits for anything else keeps the world from being still, and so
does a thread that is ready to run on a busy machine. All of this is read from ``/proc``. Systems without it, such as
macOS, learn of a deadlock from the time limit: then no rank has called anything between two looks.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rankzero.world import call_log, processes

PERIOD = 0.1  # seconds between two looks
STILL = 0.5  # seconds for which nothing has moved
LOOKS = 4  # that have seen it
ROUNDS = 2  # of a thread that looks for news by itself
DUMPING = 0.2  # seconds that a rank may take to write its stack
#: Where Python waits for a backward pass, in which DistributedDataParallel may wait for another rank.
BACKWARD = re.compile(r'most recent call first\):\n  File "[^"]*/torch/autograd/[^"]*"[^\n]*\n')
#: Name and state of a thread, how often it has gone to sleep and been interrupted, in its ``status``.
THREAD = re.compile(
    r"^Name:\t(?P<name>[^\n]*)\n.*^State:\t(?P<state>\w).*^voluntary_ctxt_switches:\t(?P<slept>\d+)\n"
    r"nonvoluntary_ctxt_switches:\t(?P<preempted>\d+)",
    re.MULTILINE | re.DOTALL,
)
#: The thread of Gloo that writes to sockets and reads from them.
GLOO = "gloo_tcp_loop"
#: The bytes that wait to be sent and to be read, and the number of the socket, in ``/proc/net/tcp``.
SOCKET = re.compile(r"^ *\d+: \S+ \S+ \w+ (?P<queues>\w+:\w+) \S+ \S+ +\d+ +\d+ (?P<number>\d+)", re.MULTILINE)


@dataclass(frozen=True)
class View:
    """One rank from outside: its process, the file its stack goes to, its slot, and whether it has reported."""

    pid: int
    stack: int
    slot: bytes
    done: bool

    @property
    def waits(self) -> bool:
        """Whether it does nothing until another rank does something."""
        _, ended_by = call_log.TAIL.unpack_from(self.slot, len(self.slot) - call_log.TAIL.size)
        return ended_by != call_log.PERHAPS_ITSELF and (self.done or self.slot[:1] in (b"!", b"?"))

    @property
    def polls(self) -> bool:
        """Whether its main thread wakes up to look for a key in the store."""
        return not self.done and self.slot[-1] == call_log.A_KEY


@dataclass
class Stillness:
    """For how long nothing has moved.

    Attributes:
        store: the file through which the ranks meet.
        views: gives every rank as it is now.
    """

    store: Path
    views: Callable[[], list[View]]
    slots: list[bytes] = field(default_factory=list)
    scene: Scene | None = None  # since the beginning of the stillness
    since: float = 0.0
    looks: int = 0
    last: float = field(default_factory=time.monotonic)

    def lasts(self) -> bool:
        """Look, unless the last look was a moment ago; whether nothing has moved for long enough to be a deadlock."""
        now = time.monotonic()
        if now - self.last < PERIOD:
            return False
        self.last = now
        views = self.views()
        slots, before = [view.slot for view in views], self.slots
        self.slots = slots
        if not all(view.waits for view in views) or all(view.done for view in views) or slots != before:
            self.scene = None
            return False
        found = scene(views, self.store)
        if self.scene is None or found is None or found.still != self.scene.still:
            self.scene, self.since, self.looks = found, now, 0
            return False
        self.looks += 1
        if now - self.since < STILL or self.looks < LOOKS or not found.has_gone_round(self.scene):
            return False
        self.scene = None  # if this is no deadlock, watch anew
        return _nothing_else(views)


@dataclass(frozen=True)
class Scene:
    """What can be seen of the ranks' threads at one moment.

    Attributes:
        still: the same as long as nothing moves.
        rounds: how often the threads that look for news by themselves have gone to sleep again.
    """

    still: object
    rounds: Sequence[int]

    def has_gone_round(self, before: Scene) -> bool:
        """Whether each of those threads has looked for news and found none since then."""
        return all(now >= then + ROUNDS for now, then in zip(self.rounds, before.rounds, strict=True))


class Moment:
    """All ranks at one moment, for a comparison with another."""

    def __init__(self, views: Sequence[View], store: Path) -> None:
        self.slots, self.scene = [view.slot for view in views], scene(views, store)

    def is_still(self, before: Moment) -> bool:
        """Whether nothing has moved since then. Where threads cannot be seen, the calls of the ranks tell."""
        if self.slots != before.slots or not Path("/proc/self/task").exists():
            return self.slots == before.slots
        return self.scene is not None and before.scene is not None and self.scene.still == before.scene.still


def scene(views: Sequence[View], store: Path) -> Scene | None:
    """The threads of all ranks; None if one runs, is ready to run, or cannot be looked at."""
    try:
        tasks = [(view, task) for view in views for task in sorted(Path(f"/proc/{view.pid}/task").iterdir())]
        threads = [_thread(view, task) for view, task in tasks]
        size = store.stat().st_size
        if _bytes_on_their_way([view.pid for view in views]):
            return None
    except (OSError, _Moves):
        return None
    return Scene(([still for still, _ in threads], size), [rounds for _, found in threads for rounds in found])


class _Moves(Exception):
    """A thread does not sleep."""


def _thread(view: View, task: Path) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What stays the same while a thread does nothing, and how often it has looked for news by itself."""
    match = THREAD.search((task / "status").read_text(errors="replace"))
    if match is None:
        raise _Moves
    main, slept = task.name == str(view.pid), int(match["slept"])
    if match["name"] == GLOO:  # it looks every 10 ms
        return (task.name, (task / "io").read_text()), (slept,)
    if match["state"] != "S" or (main and not slept):  # never: this system does not count
        raise _Moves
    if main and view.polls:
        return (task.name,), (slept,)
    return (task.name, match["slept"], match["preempted"]), ()


def _bytes_on_their_way(ranks: Sequence[int]) -> bool:
    """Whether a TCP socket of a rank has bytes that are not yet sent or not yet read."""
    tables = [table for name in ("tcp", "tcp6") if (table := Path(f"/proc/self/net/{name}")).exists()]
    rows = [row for table in tables for row in SOCKET.finditer(table.read_text())]
    busy = {f"socket:[{row['number']}]" for row in rows if row["queues"].strip("0:")}
    links = (os.readlink(link) for rank in ranks for link in Path(f"/proc/{rank}/fd").iterdir()) if busy else ()
    return any(link in busy for link in links)


def _nothing_else(views: Sequence[View]) -> bool:
    """Whether nothing but the ranks' threads can wake them: no child of theirs, and no code beside a backward pass."""
    ranks = [view.pid for view in views]
    families = {os.getpid(), *ranks}
    if any(parent in families and process not in ranks for process, parent in processes.parents()):
        return False
    return all(_in_backward(view) for view in views if not view.done and view.slot[:1] == b"?")


def listen(stack: object) -> None:
    """In a rank: write the stack to a file, and go on, whenever the supervisor asks for it."""
    if hasattr(signal, "SIGRTMAX"):
        faulthandler.register(signal.SIGRTMAX, stack, all_threads=False)  # type: ignore[arg-type]


def _in_backward(view: View) -> bool:
    """Whether a rank that may be waiting in PyTorch's C++ does so in a backward pass; asks the rank for its stack."""
    before = os.fstat(view.stack).st_size
    with contextlib.suppress(ProcessLookupError):
        os.kill(view.pid, signal.SIGRTMAX)
    deadline = time.monotonic() + DUMPING
    while time.monotonic() < deadline:
        dump = os.pread(view.stack, 2**16, before).decode(errors="replace")
        if BACKWARD.search(dump):
            return True
        time.sleep(0.01)
    return False
