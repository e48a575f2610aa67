"""Layers are measured, said and obeyed; inside, nothing of the project can be seen."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from autograder import sandbox
from autograder.sandbox import Bubblewrap, Launch, Sandbox, SandboxRefused


def inside(code: str, packages: tuple[str, ...] = ()) -> str:
    """What ``code`` prints in the isolated interpreter."""
    box = Sandbox.measure("best")
    if not box.isolated:
        pytest.skip(box.line)
    argv = list(box.launch(packages).argv)
    place = argv.index(f"{sandbox.INSIDE}/child.pyc", argv.index("--"))
    argv[place:] = ["-c", code]
    done = subprocess.run(argv, env={}, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_isolation_is_said_plainly():
    box = Sandbox.measure("none")
    assert box.line == "sandbox: none (process limits only, as asked)"
    assert not box.isolated


def test_required_refuses_with_the_reason_where_isolation_is_missing(monkeypatch):
    """Kills a silent fall back to less isolation than was asked for."""
    monkeypatch.setattr(
        "autograder.sandbox.layers.measured", lambda: ((sandbox.ProcessLayer(), ""), (Bubblewrap(), "no such program"))
    )
    with pytest.raises(SandboxRefused) as refused:
        Sandbox.measure("required")
    assert str(refused.value) == "this host cannot isolate files and network (bubblewrap: no such program)"
    assert Sandbox.measure("best").line == "sandbox: process limits; not isolated: channels, files, network, processes"


def test_an_unknown_level_is_an_error():
    with pytest.raises(ValueError, match="level must be best, required or none, got 'some'"):
        Sandbox.measure("some")


def test_probe_has_a_line_for_every_layer():
    lines = sandbox.probe()
    assert lines[0].endswith(platform.machine())
    assert [line.split(":")[0] for line in lines[1:-1]] == [kind.name for kind in sandbox.LAYERS]
    assert all(line.split(": ")[1] in ("yes", "no") and len(line.split(": ")) > 2 for line in lines[1:-1])
    assert lines[-1] == Sandbox.measure("best").line


def test_a_layer_that_is_left_out_is_not_used():
    assert [layer.name for layer in Sandbox.measure("best", sandbox.NAMES).layers] == ["process limits"]
    working = {layer.name for layer, reason in sandbox.measured() if not reason}
    for name in working - {"process limits"}:
        assert name not in [layer.name for layer in Sandbox.measure("best", [name]).layers]
    with pytest.raises(ValueError, match=r"without must name layers of seccomp, .*, cgroups, got 'chroot'"):
        Sandbox.measure("best", ["chroot"])


@pytest.mark.parametrize(
    ("names", "isolated", "line"),
    [
        ("seccomp landlock bubblewrap uid cgroups", True, "seccomp, landlock, bubblewrap, cgroups"),
        ("bubblewrap", True, "bubblewrap; not isolated: channels"),
        ("seccomp landlock", True, "seccomp, landlock"),
        ("seccomp landlock uid", True, "seccomp, landlock, uid"),
        ("seccomp", False, "seccomp; not isolated: files"),
        ("landlock", False, "landlock; not isolated: channels, network, processes"),
        ("seccomp uid", False, "seccomp, uid; not isolated: files (what all may read)"),
        ("landlock uid", False, "landlock, uid; not isolated: channels, network"),
        ("cgroups", False, "cgroups; not isolated: channels, files, network, processes"),
    ],
)
def test_the_line_says_what_is_open(names, isolated, line, monkeypatch):
    """Kills a line that names layers and keeps quiet about what they do not guard."""
    found = []
    for kind in sandbox.LAYERS:
        layer = kind()
        layer.leaves = "what all may read" if kind.name == "uid" else ""
        found.append((layer, "" if kind.name in ("process limits", *names.split()) else "not here"))
    monkeypatch.setattr("autograder.sandbox.layers.measured", lambda: tuple(found))
    box = Sandbox.measure("best")
    assert (box.isolated, box.line) == (isolated, f"sandbox: process limits, {line}")
    if isolated:
        assert Sandbox.measure("required").line == box.line
    else:
        with pytest.raises(SandboxRefused, match=r"this host cannot isolate .*: not here"):
            Sandbox.measure("required")


def test_what_was_left_out_is_a_reason_to_refuse():
    with pytest.raises(SandboxRefused, match=r"seccomp: left out, as asked; .*bubblewrap: left out, as asked"):
        Sandbox.measure("required", ["bubblewrap", "seccomp"])


def test_no_wall_is_put_up_when_none_is_asked_for():
    launch = Sandbox.measure("none").launch()
    assert (launch.walls, launch.hooks) == ({}, ())


def test_a_child_with_torch_has_a_profile_of_its_own():
    """Kills one filter and one bound for all: torch needs threads and memory."""
    box = Sandbox.measure("best")
    plain, torch = box.launch(), box.launch((), "torch")
    names = [layer.name for layer in box.layers]
    assert (plain.walls.get("seccomp") != torch.walls.get("seccomp")) == ("seccomp" in names)
    bounds = [launch.hooks[-1].limits for launch in (plain, torch) if "cgroups" in names]
    assert bounds == [] or (bounds[0][0] < bounds[1][0] and bounds[0][1] < bounds[1][1])


def test_the_interpreter_is_the_real_one():
    """Kills the start through a virtual environment's link or a version shim."""
    assert not os.path.islink(sandbox.interpreter())
    version = subprocess.run([sandbox.interpreter(), "-V"], capture_output=True, text=True, check=True).stdout
    assert version.split()[1] == sys.version.split()[0]


def test_a_child_has_an_environment_of_three_variables():
    launch = Sandbox.measure("none").launch()
    assert len(launch.env) == 3
    assert launch.argv[1:4] == ("-I", "-S", "-B")


@pytest.mark.bwrap
def test_inside_nobody_sees_the_project_or_the_network():
    code = (
        "import os, socket; print(os.getuid(), [n for _, n in socket.if_nameindex()], "
        f"os.path.exists({str(sandbox.HERE / 'files.py')!r}), sorted(os.listdir('/grader')), len(os.environ))"
    )
    files = sorted(file.name for file in sandbox.child_files())
    assert inside(code) == f"65534 ['lo'] False {files} 4"  # the fourth is PWD, set by bubblewrap


@pytest.mark.bwrap
def test_inside_only_the_working_folder_can_be_written():
    code = """
import os
written = []
for folder in ("/", "/dev", "/dev/shm", "/grader", "/usr/lib", os.path.dirname(os.__file__), "/tmp", "."):
    try:
        open(folder + "/x", "w").close()
        written.append(folder)
    except OSError:
        pass
print(written)
"""
    assert inside(code) in ("['/tmp', '.']", "['/dev/shm', '/tmp', '.']")


@pytest.mark.bwrap
def test_packages_are_seen_only_by_a_child_that_needs_them(tmp_path):
    """Kills masks that forget a package of ours that is installed beside torch."""
    for name in ("solutions", "autograder", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "secret.py").write_text("x = 1")
    (tmp_path / "labs.py").write_text("x = 1")
    packages = (str(tmp_path),)
    code = f"""
import os
seen = []
for name in ("solutions/secret.py", "autograder/secret.py", "labs.py", "other/secret.py"):
    try:
        seen.append(open({str(tmp_path)!r} + "/" + name).read() and name)
    except OSError:
        pass
print(seen)
"""
    assert inside(code, packages) == "['other/secret.py']"
    assert inside(code) == "[]"


def test_bubblewrap_without_the_program_says_so(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert Bubblewrap().measure() == "the program bwrap is not installed"


def test_a_bubblewrap_that_does_not_isolate_is_not_believed(monkeypatch):
    """Kills a measure that only looks whether the program is there."""
    layer = Bubblewrap()
    layer.program = sys.executable
    monkeypatch.setattr(layer, "apply", lambda launch: Launch(launch.argv, {}))
    assert layer._try() != ""
