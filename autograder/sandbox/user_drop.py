"""Each child runs as a user of its own: how root keeps children apart where user namespaces are forbidden.

A child becomes a user that owns nothing but its working folder. It can still open what every user can open: a key of
mode 0644, another learner's submission, ``/tmp``. Files therefore do not count as guarded, except in a container that
exists for one submission and in which everything else is closed (``chmod -R go-rwx``): :meth:`UserDrop.alone`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.sandbox.launch import HERE, Guard, Hook, Launch, Layer, interpreter, trial
from autograder.sandbox.runaways import end_runaways
from autograder.starting import NotStarted

#: By convention (systemd's table of UIDs) nobody uses the numbers between these. Where fewer are mapped, take from the
#: upper half of those that are.
LOW, HIGH = 0x60000000, 0x60010000

#: Permissions that a closed folder gives to nobody but its owner.
OTHERS = 0o077
#: Files that a child can still open when it runs as a user of its own.
OPEN = "files that every user may read or write, such as those in /tmp"


class UserDrop(Layer):
    """Every child runs as an unused user and group; whatever that user runs is ended with the child.

    ``hidden``: that user cannot read the grader's own files.
    """

    name = "uid"
    guards: frozenset[Guard] = frozenset({"processes"})
    leaves = OPEN
    hidden = False

    def measure(self) -> str:
        if not hasattr(os, "geteuid") or os.geteuid() != 0:
            return "only root can give a child another user"
        try:
            user = User()
        except NotStarted as error:
            return str(error)
        try:
            said = trial({"user": user.number}, TRIAL.format(grader=[str(HERE / "files.py"), str(HERE / "bank")]))
        finally:
            user.end()
        if said == "dropped closed":
            return f"other users cannot read the interpreter in {sys.base_prefix}"
        if said not in ("dropped hidden", "dropped open"):
            return f"a child of another user does not work: {said}"
        self.hidden = said == "dropped hidden"
        return ""

    def alone(self, folders: Sequence[Path]) -> UserDrop:
        """This layer on a host that exists for one submission; ``folders`` hold everything that it must not read.

        No later submission could read what this one writes there, so files count as guarded as soon as the grader and
        the folders are closed to other users.
        """
        layer = UserDrop()
        open_folder = next((folder for folder in folders if folder.stat().st_mode & OTHERS), None)
        layer.hidden, where = self.hidden, "the grader" if not self.hidden else "those"
        if self.hidden and open_folder is None:
            layer.guards, layer.leaves = frozenset[Guard]({*UserDrop.guards, "files"}), ""
        else:
            layer.leaves = f"files that every user may read, such as {where} in {open_folder if self.hidden else HERE}"
        return layer

    def apply(self, launch: Launch) -> Launch:
        user = User()
        return replace(launch.with_walls(user=user.number), hooks=(*launch.hooks, user))


class User(Hook):
    """A user number that no other process of this host uses, held until :meth:`end`."""

    def __init__(self) -> None:
        for self.number in itertools.islice(_numbers(), 1000):
            self._claim = socket.socket(socket.AF_UNIX) if hasattr(socket, "AF_UNIX") else None
            if self._free() and not alive(self.number):
                return
            self._release()
        raise NotStarted("uid: every user that was tried is in use")

    def _free(self) -> bool:
        """Claim the number: graders bind an abstract socket address for it, which only one process at a time can do."""
        import pwd  # Windows has no such module, and nobody who is root there

        with contextlib.suppress(KeyError):
            pwd.getpwuid(self.number)
            return False
        try:
            if self._claim:
                self._claim.bind(f"\0rank-zero-user-{self.number}")
        except OSError:
            return False
        return True

    def _release(self) -> None:
        if self._claim:
            self._claim.close()

    def prepare(self, folder: str) -> None:
        os.chown(folder, self.number, self.number)

    def end(self) -> None:
        """Kill everything that runs as this user, at once, until nothing does (at most two seconds)."""
        deadline = time.monotonic() + 2.0
        while alive(self.number) and time.monotonic() < deadline:
            end_all(self.number)
        self._release()


def alive(user: int) -> bool:
    """Whether a process of this user exists. Zombies count until they are reaped."""
    try:
        os.getpriority(os.PRIO_USER, user)
    except ProcessLookupError:
        return False
    return True


def end_all(user: int) -> None:
    """Kill every process of a user in one step, from a process of that user, and reap those that we inherited."""
    code = f"import os; os.kill(-1, {int(signal.SIGKILL)})"
    subprocess.run(
        (interpreter(), "-I", "-S", "-B", "-c", code),
        user=user,
        group=user,
        extra_groups=(),
        cwd="/",
        env={},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    end_runaways()


def _numbers() -> Iterator[int]:
    """User numbers to try, beginning with a random one."""
    low, high = LOW, HIGH
    with contextlib.suppress(OSError), open("/proc/self/uid_map", encoding="ascii") as file:
        mapped = max(int(first) + int(count) for first, _, count in map(str.split, file))
        if mapped < HIGH:
            low, high = mapped // 2, mapped - 1
    start = secrets.randbelow(max(1, high - low))
    return (low + (start + step) % (high - low) for step in range(high - low))


#: Says whether the user has changed for good, and whether it can read the interpreter and the grader's files.
TRIAL = """
import os
try:
    os.setuid(0)
    print("root")
except PermissionError:
    pass
open("x", "w").close()
os.remove("x")
try:
    import colorsys
except (ImportError, PermissionError):
    print("dropped closed")
    raise SystemExit
for path in {grader!r}:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path).close()
        print("dropped open")
        break
    except PermissionError:
        pass
else:
    print("dropped hidden")
"""
