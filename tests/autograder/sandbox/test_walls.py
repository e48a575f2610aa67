"""Every layer bites alone, with all others left out, and a host that lacks one says so.

A submission's function runs pieces of code that it is given, and says how each ended; the same pieces end otherwise
without the layer, so that no test passes because the attempt was wrong.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable

import psutil
import pytest

from autograder import sandbox
from autograder.items import Build, Case
from autograder.running.limits import Limits
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import NAMES, ProcessLayer, Sandbox
from autograder.sandbox.landlock import Landlock
from autograder.sandbox.launch import HERE, Launch, Layer, trial
from autograder.starting import NotStarted
from autograder.submission import Submission, Unit

LIMITS = Limits(imports=60.0, call=60.0, submission=600.0)

ANSWER = """
import ctypes, fcntl, os, resource, socket, sys, threading, time

def call(number, *arguments):
    if ctypes.CDLL(None, use_errno=True).syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")

def answer(code):
    names = dict(globals())
    try:
        exec(code, names)
    except (OSError, RuntimeError) as error:
        return type(error).__name__
    return names.get("said", "done")
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the layers are parts of Linux")


def alone(*names: str) -> Sandbox:
    """A sandbox of these layers only."""
    box = Sandbox.measure("best", [name for name in NAMES if name not in names])
    if {layer.name for layer in box.layers} != {ProcessLayer.name, *names}:
        pytest.skip("; ".join(sandbox.probe()))
    return box


def submission(source: str = ANSWER) -> Submission:
    return Submission("s", (Unit("s.py", source),))


def item(grade: str = "call") -> Build:
    return Build("03 target.answer", "3.1", "boundary", (), (), (), grade=grade)


def ends(box: Sandbox, attempts: Iterable[str], grade: str = "call", source: str = ANSWER) -> list[object]:
    """How each piece of code ended: ``"done"``, what it said, the class of its error, or the end of its child."""
    with Runner(submission(source), Processes(box), LIMITS) as runner:
        outcomes = runner.run(item(grade), [Case((code,)) for code in attempts])
    return [outcome.value if outcome.kind == "value" else f"{outcome.kind}: {outcome.detail}" for outcome in outcomes]


def left() -> list[int]:
    return [process.pid for process in psutil.Process().children(recursive=True)]


# Seccomp.

#: What the filter refuses although nothing else would.
REFUSED = {
    "a socket": "socket.socket()",
    "a pair of sockets": "socket.socketpair()",
    "a process": "os.fork() or os._exit(0)",
    "a program": "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
    "a signal to the grader": "os.kill(os.getppid(), 0)",
    "signals by the kernel": "fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())",
    "the grader's limits": "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)",
    "a file in memory": "os.memfd_create('x')",
    "shared memory": f"call({({'x86_64': 29, 'aarch64': 194}).get(platform.machine())}, 0, 4096, 0o1600)",
    "modes of files": "os.chmod('.', 0o700)",
    "times of files": "os.utime('.')",
    "a pipe with a name": "os.mkfifo('p'); os.remove('p')",
    "what changes are made": f"call({({'x86_64': 294, 'aarch64': 26}).get(platform.machine())}, 0)",
    "a lock": "fcntl.flock(open(os.__file__), fcntl.LOCK_EX)",
    "a lock of a record": "fcntl.lockf(open(os.__file__), fcntl.LOCK_SH)",
    "who holds a lock": "fcntl.fcntl(open(os.__file__), fcntl.F_GETLK, bytes(32))",
    "a lease": "fcntl.fcntl(os.open('l', os.O_CREAT), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    "a notice of changes": "fcntl.fcntl(os.open('.', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_CREATE)",
    "threads of others": f"call({({'x86_64': 202, 'aarch64': 98}).get(platform.machine())}, bytes(8), 1, 1, 0, 0, 0)",
    "what is in memory": "os.preadv(os.open(os.__file__, os.O_RDONLY), [bytearray(9)], 0, os.RWF_HIPRI)",
    "what stays in memory": "os.posix_fadvise(os.open(os.__file__, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)",
    "memory of the machine": f"call({({'x86_64': 99, 'aarch64': 179}).get(platform.machine())}, bytes(112))",
    "space on the disk": "os.statvfs('.')",
    "a pipe, which has a number": "os.pipe()",
    "another's group": "os.getpgid(os.getppid())",
    "another's processor time": "time.clock_gettime((~os.getppid() << 3) | 2)",
}


def test_the_filter_refuses_what_the_rest_allows():
    """Kills a filter that is measured but never sent to a child."""
    free = ends(Sandbox.measure("none"), REFUSED.values())
    assert dict(zip(REFUSED, free, strict=True)) == dict.fromkeys(REFUSED, "done")
    held = ends(alone("seccomp"), REFUSED.values())
    assert dict(zip(REFUSED, held, strict=True)) == dict.fromkeys(REFUSED, "PermissionError")


def test_a_plain_child_has_one_thread():
    start = "threading.Thread(target=int).start()"
    assert ends(Sandbox.measure("none"), [start]) == ["done"]
    assert ends(alone("seccomp"), [start]) == ["RuntimeError"]


def test_another_program_cannot_take_its_place():
    assert ends(alone("seccomp"), ["os.execv('/bin/true', ['true'])"]) == ["PermissionError"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86-64")
@pytest.mark.parametrize("code", ["b814000000cd80c3", "b8270000400f05c3"], ids=["32 bits", "x32"])
def test_calls_of_another_architecture_end_the_child(code):
    """getpid by ``int 0x80``, and by its number of the x32 interface."""
    run = f"""
import mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex({code!r}))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
    (end,) = ends(alone("seccomp"), [run])
    assert end.startswith("died: the process was ended by SIG")


def test_a_tensor_child_may_start_threads_but_no_process():
    """Kills one profile for all: torch needs threads."""
    source = ANSWER + "\nimport torch\n"
    attempts = ("threading.Thread(target=int).start()", REFUSED["a process"], REFUSED["a socket"])
    assert ends(Sandbox.measure("best"), attempts, "tensor", source) == ["done", "PermissionError", "PermissionError"]


# Landlock.


def test_landlock_closes_files(tmp_path):
    secret, folder = tmp_path / "secret", tmp_path / "folder"
    secret.write_text("x")
    folder.mkdir()
    closed = {
        "the grader": f"open({str(HERE / 'files.py')!r})",
        "a neighbour": f"open({str(secret)!r})",
        "to write": f"open({str(secret)!r}, 'a')",
        "to shorten": f"os.truncate({str(secret)!r}, 0)",
        "to make": f"open({str(folder / 'new')!r}, 'w')",
        "to remove": f"os.rmdir({str(folder)!r})",
        "to list": f"os.listdir({str(tmp_path)!r})",
        "a link": f"os.symlink({str(secret)!r}, 'link'); open('link')",
        "its environment": "open('/proc/self/environ')",
        "a program": "os.execv('/bin/true', ['true'])",
        "the library": "open(os.__file__, 'a')",
    }
    opened = {
        "its folder": "open('x', 'w').close(); os.mkdir('d'); os.rename('x', 'd/x'); os.remove('d/x'); os.rmdir('d')",
        "the library": "import colorsys; open(os.__file__)",
        "a sink": "open(os.devnull, 'w').write('x')",
        "chance": "open('/dev/urandom', 'rb').read(1)",
    }
    free = ends(Sandbox.measure("none"), list(closed.values())[:3])
    assert free == ["done"] * 3
    held = ends(alone("landlock"), [*closed.values(), *opened.values()])
    assert dict(zip(closed, held, strict=False)) == dict.fromkeys(closed, "PermissionError")
    assert held[len(closed) :] == ["done"] * len(opened)
    assert secret.read_text() == "x"
    assert folder.is_dir()


def landlock_abi() -> int:
    from autograder.child import walls

    return walls.abi()


def test_landlock_closes_tcp_and_signals_where_the_kernel_can():
    box = alone("landlock")
    connect = "socket.create_connection(('127.0.0.1', 9), 1)"
    tcp, signal = ends(box, [connect, REFUSED["a signal to the grader"]])
    assert tcp == ("PermissionError" if landlock_abi() >= 4 else "ConnectionRefusedError")
    assert signal == ("PermissionError" if landlock_abi() >= 6 else "done")


def test_landlock_leaves_our_packages_out_of_a_folder_it_shows(tmp_path):
    """Kills a rule for a whole folder that holds the reference beside torch."""
    from autograder.sandbox.landlock import allowed

    alone("landlock")
    for name in ("solutions", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "secret.py").write_text("x = 1")
    (tmp_path / "labs.py").write_text("x = 1")
    (tmp_path / "way").symlink_to(tmp_path / "solutions")
    code = f"""
import os
for name in ("solutions/secret.py", "way/secret.py", "labs.py", "other/secret.py"):
    try:
        open({str(tmp_path)!r} + "/" + name)
        print(name)
    except OSError:
        pass
print(len(os.listdir({str(tmp_path)!r})))
"""
    assert trial({"landlock": allowed((str(tmp_path),))}, code).split() == ["other/secret.py", "4"]


@pytest.mark.parametrize("abi", range(1, 9))
def test_rights_are_those_that_the_kernel_knows(abi, monkeypatch):
    """Kills a ruleset with bits of a newer kernel: an older one refuses it whole."""
    from autograder.child import walls

    calls: list[tuple] = []

    def function(name, *arguments):
        calls.append(arguments)
        if arguments[0] != walls.CREATE_RULESET:
            return 0
        return abi if arguments[1] is None else os.open(os.devnull, os.O_RDONLY)

    monkeypatch.setattr(walls, "function", function)
    walls.landlock({"read": ["/usr/lib", sys.executable], "list": ["/"], "use": ["/dev/null"], "write": ["."]})
    (made,) = [call for call in calls if call[0] == walls.CREATE_RULESET and call[1] is not None]
    handled = int.from_bytes(made[1][:8], sys.byteorder)
    known = {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)
    assert handled == (1 << known) - 1
    assert len(made[1]) == made[2] == (8 if abi < 4 else 16 if abi < 6 else 24)
    rules = [int.from_bytes(call[3][:8], sys.byteorder) for call in calls if call[0] == walls.ADD_RULE]
    assert len(rules) == 5
    assert all(rights and not rights & ~handled for rights in rules)
    assert not any(rights & walls.EXECUTE for rights in rules)
    assert not any(rights & walls.WRITE for rights in rules[:3])


def test_a_kernel_without_landlock_is_said(monkeypatch):
    from autograder.child import walls

    monkeypatch.setattr(walls, "function", lambda *_: -1)
    with pytest.raises(walls.Down, match="landlock: this kernel does not have it"):
        walls.landlock({})
    monkeypatch.setattr(
        "autograder.sandbox.landlock.trial", lambda *_: "child_walls.Down: landlock: this kernel has it not"
    )
    assert Landlock().measure() == "this kernel has it not"


# All walls.


class Broken(Layer):
    """A layer that sends a wall which no kernel takes."""

    def __init__(self, **walls: object) -> None:
        self.walls = walls

    def apply(self, launch: Launch) -> Launch:
        return launch.with_walls(**self.walls)


@pytest.mark.parametrize(
    ("walls", "said"),
    [
        ({"seccomp": "00" * 8}, "seccomp: the kernel refuses the filter"),
        ({"user": -(2**40)}, "uid: "),
    ],
)
def test_a_wall_that_does_not_go_up_ends_its_child(walls, said, tmp_path):
    """Kills a child that goes on without the wall: the submission's code would run in the open."""
    before, mark = left(), tmp_path / "mark"
    source = f"open({str(mark)!r}, 'w').close()\ndef answer(x):\n    return x\n"
    box = Sandbox("best", (ProcessLayer(), Broken(**walls)), "sandbox: broken")
    with Runner(submission(source), Processes(box), LIMITS) as runner, pytest.raises(NotStarted, match=said):
        runner.run(item(), [Case((1,))])
    assert not mark.exists()
    assert set(left()) <= set(before)


def test_a_child_that_cannot_be_started_is_the_graders_failure():
    class Missing(Layer):
        def apply(self, launch: Launch) -> Launch:
            return Launch(("/no/such/program",), {})

    box = Sandbox("best", (Missing(),), "sandbox: missing")
    with (
        Runner(submission(), Processes(box), LIMITS) as runner,
        pytest.raises(NotStarted, match="no child can be started"),
    ):
        runner.run(item(), [Case((1,))])


@pytest.mark.parametrize("name", ["seccomp", "landlock"])
def test_root_in_a_child_is_root_in_name_only(name):
    """Kills walls that leave a child the powers of root: it would lift its own limits."""
    ask = """
held = ctypes.create_string_buffer(24)
ctypes.CDLL(None).capget((0x20080522).to_bytes(8, sys.byteorder), held)
said = any(held.raw)
"""
    assert ends(Sandbox.measure("none"), [ask]) == [os.geteuid() == 0]
    assert ends(alone(name), [ask]) == [False]


def test_walls_hold_inside_bubblewrap_too():
    """Kills walls that are left out where namespaces guard already: one layer may have a hole."""
    box = alone("seccomp", "landlock", "bubblewrap")
    attempts = [REFUSED["a socket"], REFUSED["a process"], "os.listdir('/')", "os.listdir('/proc')"]
    assert ends(box, attempts) == ["PermissionError"] * 4
    assert ends(alone("bubblewrap"), attempts) == ["done"] * 4


def test_a_whole_sandbox_lets_plain_programs_compute():
    code = """
import decimal, fractions, heapq, itertools, json, random, re, statistics, tempfile, zoneinfo
with tempfile.TemporaryDirectory() as folder:
    open(folder + "/x", "w").write("x")
said = re.sub("a", "b", json.dumps([str(decimal.Decimal("1.5") + 1), random.Random(1).randrange(1)]))
"""
    boxes = [Sandbox.measure("best"), Sandbox.measure("best", ["bubblewrap"])]
    assert [ends(box, [code]) for box in boxes] == [['["2.5", 0]']] * 2
