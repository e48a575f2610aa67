"""In the child: the walls that it puts up around itself, in two steps, before any of the submission's code runs.

:func:`first` runs before packages are imported: no new privileges, a user of its own, Landlock. :func:`last` runs after
them, because importing torch may need what it forbids: it drops capabilities and installs the system call filter for
every thread. None of this can be undone. If a wall does not go up, :class:`Down` is raised and the child must end.

Only the C part of ctypes is used: importing its Python part takes longer than putting up all walls.
"""

import _ctypes
import os
import sys

PR_SET_NO_NEW_PRIVS = 38
CAPABILITY_VERSION = 0x20080522
SECCOMP, SET_MODE_FILTER, ALL_THREADS = {"x86_64": 317, "aarch64": 277}, 1, 1
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446

#: Landlock's rights on files (``linux/landlock.h``), and those that also apply to a single file.
EXECUTE, WRITE, READ, LIST, TRUNCATE, IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
OF_A_FILE = EXECUTE | WRITE | READ | TRUNCATE | IOCTL

#: The rights that each version of Landlock's ABI knows: on files, on the network, and scopes.
RIGHTS = {1: (0x1FFF, 0, 0), 2: (0x3FFF, 0, 0), 3: (0x7FFF, 0, 0), 4: (0x7FFF, 3, 0), 5: (0xFFFF, 3, 0)}
RIGHTS[6] = (0xFFFF, 3, 3)


class Down(Exception):
    """A wall did not go up. The message names it."""


def first(walls):
    """Put up the walls that hold while packages are imported."""
    if sys.platform == "linux":
        function("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if "user" in walls:
        become(walls["user"])
    if "landlock" in walls:
        landlock(walls["landlock"])


def last(walls):
    """Put up the walls that must wait until packages have been imported."""
    if not walls:
        return
    drop_capabilities()
    if "seccomp" in walls:
        seccomp(bytes.fromhex(walls["seccomp"]))


def function(name, *arguments):
    """Call a function of the C library with 32-bit integers and bytes; returns a 32-bit integer."""
    return _ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen(None, 0), name), arguments)


def word(value, size=8):
    return value.to_bytes(size, sys.byteorder)


def become(user):
    """Become this user and group, permanently."""
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except (OSError, OverflowError) as error:
        raise Down(f"uid: {error}") from None
    if os.getresuid() != (user,) * 3 or os.getresgid() != (user,) * 3 or os.getgroups():
        raise Down("uid: the user has not changed")


def drop_capabilities():
    """Give up all capabilities, so that even root has no privileges."""
    if function("capset", word(CAPABILITY_VERSION, 4) + word(0, 4), bytes(24)):
        raise Down("capabilities: they cannot be given up")


def seccomp(program):
    """Install the system call filter ``program`` (an array of ``struct sock_filter``) for every thread."""
    number = SECCOMP.get(os.uname().machine)
    if number is None:
        raise Down(f"seccomp: there is no table of system calls for {os.uname().machine}")

    class Byte(_ctypes._SimpleCData):
        _type_ = "B"

    steps = (Byte * len(program)).from_buffer(bytearray(program))
    described = word(len(program) // 8, 8) + word(_ctypes.addressof(steps))  # struct sock_fprog
    if function("syscall", number, SET_MODE_FILTER, ALL_THREADS, described):
        raise Down("seccomp: the kernel refuses the filter")


def abi():
    """The version of the kernel's Landlock ABI; 0 or less if it has none."""
    return function("syscall", CREATE_RULESET, None, 0, 1)


def landlock(paths):
    """Restrict files to these paths: ``read`` files and folders, ``list`` folders, ``use`` devices, ``write`` folders.

    A path that does not exist is skipped. Nothing can be executed; mapping a library needs only the right to read it.
    """
    version = abi()
    if version < 1:
        raise Down("landlock: this kernel does not have it")
    files, network, scopes = RIGHTS[min(version, max(RIGHTS))]
    handled = word(files) + (word(network) if network else b"") + (word(scopes) if scopes else b"")
    rules = function("syscall", CREATE_RULESET, handled, len(handled), 0)
    if rules < 0:
        raise Down("landlock: the kernel refuses its rules")
    for path in paths["read"]:
        allow(rules, path, files & (READ | LIST))
    for path in paths["list"]:
        allow(rules, path, files & LIST)
    for path in paths["use"]:
        allow(rules, path, files & (READ | WRITE | TRUNCATE))
    for path in paths["write"]:
        allow(rules, path, files & ~(EXECUTE | IOCTL))
    if function("syscall", RESTRICT_SELF, rules, 0):
        raise Down("landlock: the kernel does not enforce the rules")
    os.close(rules)


def allow(rules, path, rights):
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= OF_A_FILE
    if function("syscall", ADD_RULE, rules, 1, word(rights) + word(place, 4), 0):
        raise Down(f"landlock: the kernel refuses the rule for {path}")
    os.close(place)
