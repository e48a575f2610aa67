"""Gradescope's default container, emulated: a root file system of its own, root with few capabilities, no namespaces.

Made by bubblewrap out of the system's own folders: ``/autograder/{source,submission,results}``, a private ``/etc``,
the image's ``/usr/bin/python3``, no ``bwrap``. Root is root (without a user namespace), with the capabilities of a
default Docker container and nothing that its seccomp profile denies; memory, processors and processes are bounded as
Gradescope's smallest container is, where control groups can be written. Two things differ: there is no network at all,
and bubblewrap sets ``no_new_privs``.

Sources: Gradescope's autograder documentation (specs, troubleshooting: 768 MB, half a CPU, 10 minutes); Docker's
documentation of its default capabilities and seccomp profile.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Capabilities of root in a default Docker container; as a mask they are 0xa80425fb.
CAPABILITIES = (
    *("chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap"),
    *("net_bind_service", "net_raw", "sys_chroot", "mknod", "audit_write", "setfcap"),
)
#: What Docker's default seccomp profile denies to a container with these capabilities (those that exist today).
DENIED = (
    *("acct", "add_key", "bpf", "clock_settime", "create_module", "delete_module", "fanotify_init", "finit_module"),
    *("fsconfig", "fsmount", "fsopen", "fspick", "get_mempolicy", "init_module", "io_uring_enter"),
    *("io_uring_register", "io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_file_load", "kexec_load", "keyctl"),
    *("lookup_dcookie", "mbind", "mount", "mount_setattr", "move_mount", "move_pages", "nfsservctl"),
    *("open_by_handle_at", "open_tree", "perf_event_open", "pidfd_getfd", "pivot_root", "process_madvise", "quotactl"),
    *("quotactl_fd", "reboot", "request_key", "set_mempolicy", "setdomainname", "sethostname", "setns"),
    *("settimeofday", "stime", "swapoff", "swapon", "sysfs", "syslog", "umount2", "unshare", "uselib"),
    *("userfaultfd", "ustat", "vhangup", "vm86", "vm86old"),
)
#: Flags of ``clone`` that make namespaces: mount, cgroup, UTS, IPC, user, PID, network.
NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
#: Files of ``/proc`` that Docker hides, and folders that it makes read-only.
HIDDEN = ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/latency_stats")
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")

#: Nothing for root; for another user, a user namespace with a range of users in which it is root.
USERS = () if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user", "--map-auto", "--")

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@functools.cache
def unavailable() -> str:
    """Why this host cannot have such a container; empty when it can."""
    for program in ("bwrap", "setpriv"):
        if not shutil.which(program):
            return f"the program {program} is not installed"
    try:
        done = run(["/usr/bin/python3", "-c", "import os, sys; print(os.getuid(), sys.version_info >= (3, 11))"])
    except (OSError, ImportError) as error:  # libseccomp is missing
        return f"no container: {error}"
    if done.stdout.strip() == "0 False":
        return "/usr/bin/python3 is older than 3.11"
    return "" if done.stdout.strip() == "0 True" else f"no container: {(done.stderr.splitlines() or ['no output'])[-1]}"


# The container


def run(
    command: Sequence[str],
    binds: Mapping[str, Path | str] | None = None,
    shown: Mapping[str, Path | str] | None = None,
    size: Size | None = None,
    denied: Sequence[str] = (),
    seconds: float = 240,
) -> subprocess.CompletedProcess[str]:
    """Run ``command`` in a fresh container.

    Args:
        command: with an absolute path, or found in the container's ``PATH``.
        binds: writable folders of the host by where they stand inside.
        shown: files and folders of the host that can only be read, likewise.
        size: its bounds.
        denied: system calls that this kernel does not have.
        seconds: after which it is killed.

    Raises:
        subprocess.TimeoutExpired: it did not end; everything in the container was killed.
    """
    with tempfile.TemporaryFile() as profile, bounded(size or Size()) as entering:
        _filter(denied).export_bpf(profile)
        profile.seek(0)
        flags = [*_files(binds or {}, shown or {}), "--seccomp", str(profile.fileno())]
        return subprocess.run(
            [*entering, *USERS, "bwrap", *flags, "--", *_privileges(), *command],
            pass_fds=[profile.fileno()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )


def _files(binds: Mapping[str, Path | str], shown: Mapping[str, Path | str]) -> list[str]:
    """The file system, ``/proc`` and the other namespaces."""
    flags = ["--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    flags += ["--hostname", "container", "--clearenv", "--setenv", "PATH", PATH, "--setenv", "HOME", "/root"]
    flags += ["--ro-bind", "/usr", "/usr", "--tmpfs", "/usr/local", "--ro-bind", os.devnull, "/usr/bin/bwrap"]
    flags += ["--dir", "/usr/local/bin", "--perms", "0755", "--dir", "/opt"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            flags += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            flags += ["--ro-bind", name, name]
    flags += ["--dir", "/etc", "--dir", "/root", "--dir", "/run", "--dir", "/var", "--perms", "1777", "--tmpfs", "/tmp"]
    for name in ("/etc/ld.so.cache", "/etc/alternatives"):
        flags += ["--ro-bind-try", name, name]
    flags += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", "/sys", "/sys"]
    flags += [part for name in HIDDEN if os.path.exists(name) for part in ("--ro-bind", os.devnull, name)]
    flags += [part for name in READ_ONLY if os.path.exists(name) for part in ("--ro-bind", name, name)]
    flags += [part for inside, outside in binds.items() for part in ("--bind", str(outside), inside)]
    flags += [part for inside, outside in shown.items() for part in ("--ro-bind", str(outside), inside)]
    capabilities = [part for name in CAPABILITIES for part in ("--cap-add", f"CAP_{name.upper()}")]
    return [*flags, "--cap-drop", "ALL", *capabilities]


def _privileges() -> list[str]:
    """Nothing can be gained beyond the capabilities of the container, and none of them is inherited."""
    bounds = ",".join(f"+{name}" for name in CAPABILITIES)
    return ["setpriv", f"--bounding-set=-all,{bounds}", "--inh-caps=-all", "--ambient-caps=-all", "--"]


def _filter(missing: Sequence[str]) -> Any:
    """Docker's default seccomp profile, as far as it denies something that a submission could use."""
    import pyseccomp

    denied = pyseccomp.ERRNO(errno.EPERM)
    profile = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in DENIED:
        profile.add_rule(denied, name)
    for flag in NAMESPACES:
        profile.add_rule(denied, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    for name in ("clone3", *missing):
        profile.add_rule(pyseccomp.ERRNO(errno.ENOSYS), name)
    return profile


# Its size


@dataclass(frozen=True)
class Size:
    """Bounds of a container: bytes, processors, processes. Gradescope's smallest is the default."""

    memory: int = 768 * 10**6
    processors: float = 0.5
    processes: int = 256


def groups() -> str:
    """Why the size of a container cannot be bounded here; empty when it can."""
    with bounded(Size()) as entering:
        return "" if entering else "control groups cannot be written here"


@contextlib.contextmanager
def bounded(size: Size) -> Iterator[list[str]]:
    """What to put before a command so that it runs within ``size``; empty where control groups cannot be written."""
    made: list[Path] = []
    try:
        try:
            for folder, bounds in _bounds(size).items():
                made.append(folder)
                folder.mkdir()
                for name, value in bounds.items():
                    (folder / name).write_text(value)
        except OSError:
            _removed(made)
        entering = "".join(f"echo $$ > {shlex.quote(str(folder))}/cgroup.procs; " for folder in made)
        yield ["sh", "-c", entering + 'exec "$@"', "sh"] if made else []
    finally:
        _removed(made)


def _bounds(size: Size) -> dict[Path, dict[str, str]]:
    """New control groups below our own, and what to write into each: three of version 1, or one of version 2."""
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    places = {controller: path for _, controllers, path in own for controller in controllers.split(",")}
    name, quota = f"container-{uuid.uuid4().hex[:8]}", f"{int(100_000 * size.processors)}"
    root = Path("/sys/fs/cgroup")
    if "memory" not in places:
        files = {"memory.max": f"{size.memory}", "pids.max": f"{size.processes}", "cpu.max": f"{quota} 100000"}
        return {root / places[""].lstrip("/") / name: files}
    files = {"memory": {"memory.limit_in_bytes": f"{size.memory}"}, "pids": {"pids.max": f"{size.processes}"}}
    files["cpu"] = {"cpu.cfs_quota_us": quota}
    return {root / kind / places[kind].lstrip("/") / name: values for kind, values in files.items()}


def _removed(made: list[Path]) -> None:
    """Remove control groups; their last processes may still be ending."""
    deadline = time.monotonic() + 5.0
    while made:
        try:
            made[-1].rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            if time.monotonic() < deadline:
                time.sleep(0.01)
                continue
        made.pop()
