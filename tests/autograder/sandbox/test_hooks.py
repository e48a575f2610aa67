"""A user of its own and a control group for each child: each bites alone, and leaves nothing behind."""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from autograder import sandbox
from autograder.items import Build, Case
from autograder.running.limits import Limits
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import (
    ProcessLayer,
    Sandbox,
    bubblewrap,
    cgroups,
    landlock,
    launch,
    layers,
    user_drop,
)
from autograder.sandbox.cgroups import Cgroups
from autograder.sandbox.runaways import family
from autograder.sandbox.seccomp import Seccomp
from autograder.sandbox.user_drop import UserDrop
from autograder.submission import Submission, Unit

LIMITS = Limits(imports=60.0, call=60.0, submission=600.0)

ANSWER = """
import os, signal, time

def answer(code):
    names = dict(globals())
    try:
        exec(code, names)
    except OSError as error:
        return type(error).__name__
    return names.get("said", "done")
"""

#: A process that leaves its session and then becomes another one for ever, so that no list of processes holds it.
COMET = """
if not os.fork():
    os.setsid()
    while True:
        if os.fork():
            os._exit(0)
"""

#: How many processes can be started before the system says no.
COUNT = """
said = 0
try:
    while said < 200:
        if not os.fork():
            signal.pause()
        said += 1
except OSError:
    pass
"""


def submission() -> Submission:
    return Submission("s", (Unit("s.py", ANSWER),))


ITEM = Build("03 target.answer", "3.1", "boundary", (), (), ())


def values(box: Sandbox, *attempts: str) -> list[object]:
    with Runner(submission(), Processes(box), LIMITS) as runner:
        outcomes = runner.run(ITEM, [Case((code,)) for code in attempts])
    return [outcome.value if outcome.kind == "value" else outcome.kind for outcome in outcomes]


# A user of its own.


def readable_interpreter() -> str:
    """An interpreter of this version that every user can read; empty when there is none."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for path in filter(None, (shutil.which(name, path="/usr/bin:/usr/local/bin"),)):
        code = "import importlib.util as u; print(u.MAGIC_NUMBER.hex())"
        done = subprocess.run([path, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
        if done.stdout.strip() == importlib.util.MAGIC_NUMBER.hex():
            return os.path.realpath(path)
    return ""


@pytest.fixture
def users(monkeypatch) -> Sandbox:
    """A sandbox in which every child has a user of its own, and no other layer but process limits."""
    if UserDrop().measure().startswith("other users cannot read the interpreter"):
        other = readable_interpreter()
        for module in (bubblewrap, landlock, launch, layers, user_drop):
            monkeypatch.setattr(module, "interpreter", lambda: other)
    layer = UserDrop()
    if reason := layer.measure():
        pytest.skip(f"uid: {reason}")
    return Sandbox("best", (ProcessLayer(), layer), "sandbox: process limits, uid")


def test_every_child_has_a_user_of_its_own(users, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o600)
    closed = [
        f"open({str(secret)!r})",
        f"open({str(tmp_path / 'new')!r}, 'w')",
        "os.kill(os.getppid(), 0)",
        "os.setuid(0)",
        "os.chown('.', 0, 0)",
        "open(f'/proc/{os.getppid()}/environ')",
    ]
    assert values(Sandbox.measure("none"), *closed[:4]) == ["done"] * 4
    assert values(users, *closed, "open('x', 'w')", "import colorsys") == ["PermissionError"] * 6 + ["done"] * 2
    who = "said = [os.getuid(), os.getgid(), os.getgroups()]"
    (first,), (second,) = values(users, who), values(users, who)
    assert first[0] == first[1] > 0
    assert first[2] == []
    assert first[0] != second[0]


def test_children_of_two_users_cannot_touch_one_another(users):
    """Kills one user for all children: a submission would read its neighbour, or end it."""
    mine = "open('mine', 'w').close(); os.chmod('mine', 0o644); said = [os.getpid(), os.getcwd()]"
    with Runner(submission(), Processes(users), LIMITS) as runner:
        (outcome,) = runner.run(ITEM, [Case((mine,))])
        pid, folder = outcome.value
        assert values(users, f"os.kill({pid}, 0)", f"open({folder!r} + '/mine')") == ["PermissionError"] * 2


def test_the_number_of_processes_is_bounded_for_a_user(users):
    """RLIMIT_NPROC binds no root; it binds a child's own user."""
    (count,) = values(users, COUNT)
    assert 0 < count <= 64


def test_whatever_a_user_runs_is_ended(users):
    """Kills the end by process group or by a list of processes: this one is in neither for long."""
    (user,) = values(users, COMET + "\nsaid = os.getuid()")
    assert not user_drop.alive(user)


@pytest.fixture
def open_folder():
    """A folder that every user can read; those of pytest are closed."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        Path(folder, "files.py").write_text("")
        Path(folder, "bank").mkdir()
        yield Path(folder)


def test_a_user_of_its_own_does_not_isolate_files(users, monkeypatch, open_folder):
    """Kills: a class that is graded where a submission reads a neighbour's file, or leaves one for the next."""
    monkeypatch.setattr(user_drop, "HERE", open_folder)
    neighbour, left = open_folder / "neighbour.py", Path(tempfile.gettempdir(), f"left-{os.getpid()}")
    neighbour.write_text("x")
    neighbour.chmod(0o644)
    assert values(users, f"open({str(neighbour)!r})", f"open({str(left)!r}, 'w').close()") == ["done"] * 2
    left.unlink()
    open_folder.chmod(0o700)  # the grader itself is closed, which is not enough
    layer = UserDrop()
    assert layer.measure() == ""
    monkeypatch.setattr(
        "autograder.sandbox.layers.measured", lambda: ((ProcessLayer(), ""), (Seccomp(), ""), (layer, ""))
    )
    box = Sandbox.measure("best")
    assert not box.isolated
    assert box.line.endswith(
        "uid; not isolated: files (files that every user may read or write, such as those in /tmp)"
    )
    with pytest.raises(sandbox.SandboxRefused, match=r"cannot isolate files .*uid: it leaves open files that every"):
        Sandbox.measure("required")


def test_alone_in_a_container_a_user_of_its_own_is_enough(users, monkeypatch, open_folder, tmp_path):
    """One submission, in a container that is thrown away: nothing is there to be read once the grader is closed."""
    monkeypatch.setattr(user_drop, "HERE", open_folder)
    folders = [tmp_path / "source", tmp_path / "results"]
    for folder in folders:
        folder.mkdir(mode=0o700)

    def line() -> str:
        layer = UserDrop()
        assert layer.measure() == ""
        monkeypatch.setattr(
            "autograder.sandbox.layers.measured", lambda: ((ProcessLayer(), ""), (Seccomp(), ""), (layer, ""))
        )
        return Sandbox.measure("best", alone=folders).line

    assert line().endswith(f"not isolated: files (files that every user may read, such as the grader in {open_folder})")
    open_folder.chmod(0o700)
    assert line() == "sandbox: process limits, seccomp, uid"
    assert Sandbox.measure("required", alone=folders).isolated
    folders[1].chmod(0o755)
    assert line().endswith(f"not isolated: files (files that every user may read, such as those in {folders[1]})")
    with pytest.raises(sandbox.SandboxRefused, match=f"such as those in {folders[1]}"):
        Sandbox.measure("required", alone=folders)


def test_who_is_not_root_says_so(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert UserDrop().measure() == "only root can give a child another user"


def test_a_number_is_given_once(users):
    """Kills two graders that give one user to two children."""
    held = [user_drop.User() for _ in range(20)]
    assert len({user.number for user in held}) == 20
    assert not held[0]._free()
    for user in held:
        user.end()


# Control groups.


@pytest.fixture
def groups() -> Sandbox:
    """A sandbox of control groups and process limits."""
    box = Sandbox.measure("best", [name for name in sandbox.NAMES if name != "cgroups"])
    if "cgroups" not in box.line:
        pytest.skip("; ".join(sandbox.probe()))
    return box


def groups_of_this_process() -> set[str]:
    """Groups named after this process, which another process of the same number may have left."""
    return set(glob.glob(f"/sys/fs/cgroup/**/grader-{os.getpid()}-*", recursive=True))


FOUND = groups_of_this_process()


def made() -> list[str]:
    """Groups of this process that exist."""
    return sorted(groups_of_this_process() - FOUND)


def test_a_group_has_no_name_that_a_killed_grader_left():
    """Kills: names that count from 0 in each process, so that a right program cannot start where one was left."""
    code = "import os, sys; os.getpid = lambda: 7; from autograder.sandbox.cgroups import Group"
    code += "; print(Group(2, (__import__('pathlib').Path('x'),), 1, 1).folders[0].name)"
    names = {subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(2)}
    assert len(names) == 2


def test_a_group_bounds_processes_and_is_removed(groups):
    """Kills a limit that does not bind root."""
    (count,) = values(groups, COUNT)
    assert 0 < count <= cgroups.PIDS[""]
    assert made() == []


def test_a_group_bounds_memory_of_all_together(groups):
    """Kills a bound on address space alone: three processes have three of them."""
    grow = """
pids = []
for _ in range(3):
    read, write = os.pipe()
    pids.append(os.fork())
    if not pids[-1]:
        held = b"x" * (100 << 20)
        os.write(write, b"x")
        signal.pause()
    os.close(write)
    os.read(read, 1)  # it holds its memory, or has been ended
said = []
for pid in pids:
    os.kill(pid, signal.SIGTERM)
    said.append(os.WTERMSIG(os.waitpid(pid, 0)[1]))
"""
    assert values(Sandbox.measure("none"), grow) == [[signal.SIGTERM] * 3]
    (bounded,) = values(groups, grow)
    assert bounded == "died" or signal.SIGKILL in bounded
    assert made() == []


def test_what_left_its_session_is_ended_with_its_group(groups):
    with Runner(submission(), Processes(groups), LIMITS) as runner:
        runner.run(ITEM, [Case((COMET,))])
        (child,) = runner.children.started.values()
        (group,) = child._hooks
        assert group.members() > {child.pid}
    assert group.members() == set()
    assert made() == []


def test_all_of_a_child_is_in_its_group():
    """Kills a group that holds bubblewrap's first process and none of those that it forks."""
    box = Sandbox.measure("best")
    if "cgroups" not in box.line:
        pytest.skip(box.line)
    with Runner(submission(), Processes(box), LIMITS) as runner:
        runner.run(ITEM, [Case(("pass",))])
        (child,) = runner.children.started.values()
        assert child._hooks[-1].members() == set(family(child.pid))
        assert "grader-" not in Path("/proc/self/cgroup").read_text()


def test_a_folder_that_is_no_group_is_not_believed(monkeypatch, tmp_path):
    monkeypatch.setattr(cgroups, "candidates", lambda: [(2, (tmp_path,)), (1, (tmp_path, tmp_path))])
    assert "No such file" in Cgroups()._try(2, (tmp_path,))
    assert Cgroups().measure() != ""
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(cgroups, "candidates", list)
    assert Cgroups().measure() == "no group with memory and pids is mounted"


def test_groups_are_looked_for_where_they_may_be(tmp_path):
    proc, sys_fs = tmp_path / "proc", tmp_path / "cgroup"
    leaf = sys_fs / "user" / "leaf"
    leaf.mkdir(parents=True)
    proc.mkdir()
    assert cgroups.candidates(str(proc), str(sys_fs)) == []
    (proc / "cgroup").write_text("0::/user/leaf\n")
    assert cgroups.candidates(str(proc), str(sys_fs)) == []
    (leaf / "cgroup.subtree_control").write_text("\n")
    (leaf.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    assert cgroups.candidates(str(proc), str(sys_fs)) == [(2, (leaf.parent,))]
    for path in ("memory/job", "pids"):
        (sys_fs / path).mkdir(parents=True)
    (proc / "cgroup").write_text("5:cpu,memory:/job\n4:pids:/not/shown\n0::/\n")
    assert cgroups.candidates(str(proc), str(sys_fs)) == [(1, (sys_fs / "memory" / "job", sys_fs / "pids"))]
