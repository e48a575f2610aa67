"""The emulated container is what it says: what a default Docker container denies is denied in it, and no more."""

from __future__ import annotations

import json

import container
import pytest

pytestmark = [pytest.mark.bwrap, pytest.mark.xdist_group("container"), pytest.mark.proof(part="classes")]
if container.unavailable():
    pytest.skip(f"no container here: {container.unavailable()}", allow_module_level=True)

#: What is asked inside: system calls that make namespaces or mounts, and what the process finds around it.
PROGRAM = """
import ctypes, json, os, shutil, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    ctypes.set_errno(0)
    return ctypes.get_errno() if libc.syscall(*arguments) == -1 else 0
calls = {"x86_64": {"clone3": 435, "keyctl": 250}, "aarch64": {"clone3": 435, "keyctl": 219}}[os.uname().machine]
status = dict(line.rstrip("\\n").split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
def writable(path):
    try:
        open(path, "w").close()
    except OSError:
        return False
    return True
print(json.dumps({
    "user": os.getuid(),
    "root of": open("/proc/self/uid_map").read().split(),
    "capabilities": {name: status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
    "unshare": [libc.unshare(flag) and ctypes.get_errno() for flag in (0x10000000, 0x20000, 0x40000000)],
    "mount": libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) and ctypes.get_errno(),
    "clone3": call(calls["clone3"], None, 0),
    "keyctl": call(calls["keyctl"], 0, -3, 0),
    "network": [name for _, name in socket.if_nameindex()],
    "bwrap": shutil.which("bwrap"),
    "python": shutil.which("python3"),
    "writable": list(filter(writable, ("/usr/x", "/proc/sys/kernel/hostname", "/sys/x", "/tmp/x", "/etc/x"))),
    "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit())[-1] < 10,
    "other": os.spawnlp(os.P_WAIT, "setpriv", "setpriv", "--reuid=4242", "--clear-groups", "true"),
}))
"""


@pytest.fixture(scope="module")
def found():
    done = container.run(["/usr/bin/python3", "-c", PROGRAM])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_root_is_root_with_the_capabilities_of_a_default_container(found):
    """Kills an emulation with all of root's powers, or with none."""
    assert found["user"] == 0
    few, none = "00000000a80425fb", "0000000000000000"
    wanted = {"CapInh": none, "CapPrm": few, "CapEff": few, "CapBnd": few, "CapAmb": none}
    assert found["capabilities"] == wanted
    assert found["other"] == 0  # the grader may give its children another user
    if not container.USERS:
        assert found["root of"] == ["0", "0", "4294967295"]


def test_no_namespace_can_be_made(found):
    """Kills a profile without flags of clone, which bubblewrap would get around."""
    assert found["unshare"] == [1, 1, 1]
    assert (found["mount"], found["keyctl"]) == (1, 1)
    assert found["clone3"] == 38  # the C library then falls back on clone, whose flags the profile sees
    assert found["bwrap"] is None
    flags = 0x10000000 | 17
    code = "import ctypes; print(ctypes.CDLL(None, use_errno=True).syscall({'x86_64': 56}.get(__import__('os').uname()"
    code += f".machine, 220), {flags}, None, None, None, None), ctypes.get_errno())"
    assert container.run(["/usr/bin/python3", "-c", code]).stdout.split() == ["-1", "1"]


def test_the_file_system_is_the_image_and_nothing_else(found):
    assert found["python"] == "/usr/bin/python3"
    assert set(found["writable"]) == {"/tmp/x", "/etc/x"}
    assert (found["network"], found["processes"]) == (["lo"], True)
    listing = container.run(["sh", "-c", "ls / /usr/local"]).stdout.split()
    assert not {"home", "work", "mnt", "boot"} & set(listing)


def test_a_system_call_can_be_taken_away():
    code = "import ctypes; print(ctypes.CDLL(None, use_errno=True).prctl(1, 9), ctypes.get_errno())"
    assert container.run(["/usr/bin/python3", "-c", code]).stdout.split()[0] == "0"
    assert container.run(["/usr/bin/python3", "-c", code], denied=["prctl"]).returncode != 0


@pytest.mark.skipif(bool(container.groups()), reason=container.groups())
def test_memory_and_processes_are_bounded():
    """Kills bounds that are written into groups which nobody enters."""
    small = container.Size(memory=64 * 10**6, processes=20)
    eat = "x = bytearray(200 * 10**6); print(len(x))"
    assert container.run(["/usr/bin/python3", "-c", eat]).stdout.strip() == "200000000"
    assert container.run(["/usr/bin/python3", "-c", eat], size=small).returncode == 137
    fork = "import os, signal\nfor n in range(40):\n    try:\n        os.fork() or signal.pause()\n"
    fork += "    except OSError:\n        print('refused')\n        break\nos.kill(0, 9)\n"
    assert "refused" in container.run(["/usr/bin/python3", "-uc", fork], size=small).stdout
