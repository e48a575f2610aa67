"""The system call filter of a child: what it forbids, and the program that the kernel runs for it.

The filter lists the calls that a computation has no use for; everything else is allowed. A forbidden call fails with
EPERM, so that an honest program gets an exception at its own line. A call of another architecture ends the process. A
call with a number newer than this file fails with ENOSYS, as it would on an older kernel.

The filter forbids what would reach out of the child, and also what other children could notice. Children share the
interpreter's files, and with them what the kernel keeps per file: locks, leases, hints, queues of waiting threads,
pages in memory. They also share totals over the machine and over a user. What remains is timing: a child can feel that
a neighbor is busy, and where files are not isolated, it can see when a library's file was last read.

Numbers: the kernel's ``arch/x86/entry/syscalls/syscall_64.tbl`` and ``include/uapi/asm-generic/unistd.h``. The program
is classic BPF over ``struct seccomp_data`` (``linux/seccomp.h``); see seccomp(2).
"""

from __future__ import annotations

import functools
import platform
import struct
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from autograder.sandbox.launch import Guard, Launch, Layer, trial

#: Forbidden calls by family: name, number on x86-64, number on arm64 (``-``: it does not exist there).
FORBIDDEN = {
    "network": """
        socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202,
        accept4 288 242, sendto 44 206, sendmsg 46 211, sendmmsg 307 269, recvfrom 45 207, recvmsg 47 212,
        recvmmsg 299 243, getsockname 51 204, getpeername 52 205, setsockopt 54 208, getsockopt 55 209,
        shutdown 48 210
    """,
    "processes": """
        fork 57 -, vfork 58 -, execve 59 221, execveat 322 281
    """,
    "other processes": """
        ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440,
        process_mrelease 448 448, kcmp 312 272, kill 62 129, tkill 200 130, tgkill 234 131,
        rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, pidfd_open 434 434, pidfd_getfd 438 438,
        pidfd_send_signal 424 424, setpriority 141 140, sched_setparam 142 118, sched_setscheduler 144 119,
        sched_setattr 314 274, sched_setaffinity 203 122, ioprio_set 251 30, migrate_pages 256 238,
        move_pages 279 239, mbind 237 235, set_mempolicy 238 237, get_mempolicy 239 236
    """,
    "what the kernel keeps for a file": """
        flock 73 32, mincore 27 232, fadvise64 221 223, readahead 187 213, cachestat 451 451, preadv2 327 286,
        pwritev2 328 287, futex_waitv 449 449, futex_wake 454 454, futex_wait 455 455, futex_requeue 456 456
    """,
    "sums over the machine or a user": """
        sysinfo 99 179, statfs 137 43, fstatfs 138 44, ustat 136 -, pipe 22 -, pipe2 293 59, timer_create 222 107
    """,
    "privileges": """
        setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147, setresgid 119 149,
        setgroups 116 159, setfsuid 122 151, setfsgid 123 152, capset 126 91, personality 135 92
    """,
    "namespaces and mounts": """
        unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51,
        open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433,
        mount_setattr 442 442, open_tree_attr 467 467, statmount 457 457, listmount 458 458, swapon 167 224,
        swapoff 168 225, quotactl 179 60, quotactl_fd 443 443, acct 163 89
    """,
    "the kernel": """
        bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425,
        io_uring_enter 426 426, io_uring_register 427 427, io_setup 206 0, io_submit 209 2, io_destroy 207 1,
        io_cancel 210 3, io_getevents 208 4, io_pgetevents 333 292, keyctl 250 219, add_key 248 217,
        request_key 249 218, kexec_load 246 104, kexec_file_load 320 294, init_module 175 105,
        finit_module 313 273, delete_module 176 106, create_module 174 -, reboot 169 142, syslog 103 116,
        settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171,
        sethostname 170 161, setdomainname 171 162, vhangup 153 58, iopl 172 -, ioperm 173 -, modify_ldt 154 -,
        uselib 134 -, _sysctl 156 -, lookup_dcookie 212 18, nfsservctl 180 42, fanotify_init 300 262,
        fanotify_mark 301 263, inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27, sync 162 81,
        syncfs 306 267, memfd_create 319 279, memfd_secret 447 447
    """,
    "shared objects": """
        shmget 29 194, shmat 30 196, shmctl 31 195, shmdt 67 197, semget 64 190, semop 65 193, semctl 66 191,
        semtimedop 220 192, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, mq_open 240 180,
        mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183, mq_notify 244 184,
        mq_getsetattr 245 185
    """,
    "attributes of files": """
        chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -,
        fchownat 260 54, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, setxattrat 463 463,
        removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16, removexattrat 466 466, utime 132 -,
        utimes 235 -, utimensat 280 88, futimesat 261 -, mknod 133 -, mknodat 259 33, file_setattr 469 469,
        name_to_handle_at 303 264, open_by_handle_at 304 265
    """,
    "room without writing": """
        fallocate 285 47
    """,
}

#: Calls that depend on their arguments, or that fail with another error.
SPECIAL = """
    clone 56 220, clone3 435 435, futex 202 98, fcntl 72 25, ioctl 16 29, madvise 28 233, prctl 157 167,
    clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, prlimit64 302 261, sched_getaffinity 204 123,
    sched_getscheduler 145 120, sched_getparam 143 121, sched_getattr 315 275, sched_rr_get_interval 148 127,
    getpgid 121 155, getsid 124 156, get_robust_list 274 100, getpriority 140 141, ioprio_get 252 31
"""

#: Calls that may only ask about the caller (0): the position of the argument that names a process or thread.
OWN = {
    **dict.fromkeys(("prlimit64", "sched_getaffinity", "sched_getscheduler", "sched_getparam", "sched_getattr"), 0),
    **dict.fromkeys(("sched_rr_get_interval", "getpgid", "getsid", "get_robust_list"), 0),
    **dict.fromkeys(("getpriority", "ioprio_get"), 1),
}

#: Calls whose first argument is a clock; negative clocks belong to other processes.
CLOCKS = ("clock_gettime", "clock_getres", "clock_nanosleep")

#: Commands allowed for ``fcntl``: descriptors and their flags, but no lock, lease, owner, hint or change notification.
FCNTL = (0, 1, 2, 3, 4, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC

#: Commands allowed for ``ioctl``: is it a terminal, its size, how much can be read, flags of the descriptor.
IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)

#: Advice for ``madvise`` that affects the caller alone; the rest changes which pages of a file are in memory.
MADVISE = (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19)

#: What ``uname -m`` says, and the kernel's AUDIT_ARCH for it.
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

#: ``plain`` has one thread; ``torch`` may start threads.
Profile = Literal["plain", "torch"]
PROFILES: tuple[Profile, ...] = get_args(Profile)

#: The highest number known here (``file_setattr``), the same on both machines.
LAST = 469

#: The bit that marks call numbers of the x32 interface.
X32 = 0x40000000

EPERM, EAGAIN, ENOSYS = 1, 11, 38
KILL, ALLOW = 0x80000000, 0x7FFF0000
CLONE_THREAD = 0x10000
FUTEX_PRIVATE = 128
FUTEX_WAITS = (0, 9, 256, 265)  # FUTEX_WAIT and FUTEX_WAIT_BITSET, by either clock
PR_SCHED_CORE = 62
NEGATIVE = 0x80000000

LOAD, RETURN, EQUAL, GREATER, AT_LEAST, ANY_BIT = 0x20, 0x06, 0x15, 0x25, 0x35, 0x45
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

Step = tuple[int, int, int, int]  # code, steps to jump over when true, when false, constant


def numbers(machine: str) -> dict[str, int]:
    """Forbidden and special calls by name, on ``machine``."""
    column = list(MACHINES).index(machine)
    rows = (row.split() for text in (*FORBIDDEN.values(), SPECIAL) for row in text.split(","))
    return {name: int(found[column]) for name, *found in rows if found[column] != "-"}


ALLOWED: Step = (RETURN, 0, 0, ALLOW)


def refused(error: int) -> Step:
    """The step that makes a call fail with this error number."""
    return (RETURN, 0, 0, 0x00050000 | error)


@functools.cache
def program(machine: str, profile: Profile) -> bytes:
    """The filter for ``machine`` (``platform.machine()``) and ``profile``, as an array of ``struct sock_filter``.

    Raises:
        ValueError: the machine is not in :data:`MACHINES`, or the profile not in :data:`PROFILES`.
    """
    if machine not in MACHINES:
        raise ValueError(f"machine must be one of {', '.join(MACHINES)}, got {machine!r}")
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, got {profile!r}")
    number = numbers(machine)
    steps = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, MACHINES[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if machine == "x86_64":
        steps += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    steps += [(GREATER, 0, 1, LAST), refused(ENOSYS)]
    steps += _when(number["clone3"], [refused(ENOSYS)])  # libc falls back to clone, whose flags can be read here
    steps += _when(number["clone"], _clone(profile))
    steps += _when(number["futex"], _futex())
    steps += _when(number["fcntl"], _only(1, FCNTL))
    steps += _when(number["ioctl"], _only(1, IOCTL))
    steps += _when(number["madvise"], _only(2, MADVISE))
    steps += _when(number["prctl"], [_argument(0), (EQUAL, 0, 1, PR_SCHED_CORE), refused(EPERM), ALLOWED])
    for name, place in OWN.items():
        steps += _when(number[name], _only(place, (0,)))
    for name in CLOCKS:
        steps += _when(number[name], [_argument(0), (AT_LEAST, 0, 1, NEGATIVE), refused(EPERM), ALLOWED])
    special = {row.split()[0] for row in SPECIAL.split(",")}
    for low, high in _runs(value for name, value in number.items() if name not in special):
        steps += [(AT_LEAST, 0, 2, low), (GREATER, 1, 0, high), refused(EPERM)]
    steps.append(ALLOWED)
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _when(number: int, steps: Sequence[Step]) -> list[Step]:
    """Run ``steps`` for calls with this number; ``steps`` must end in a return."""
    return [(EQUAL, 0, len(steps), number), *steps]


def _argument(index: int) -> Step:
    """Load the low 32 bits of an argument."""
    return (LOAD, 0, 0, ARGUMENTS + 8 * index)


def _clone(profile: Profile) -> list[Step]:
    """Only the profile ``torch`` may start threads; no profile may start processes."""
    if profile == "plain":
        return [refused(EPERM)]
    return [_argument(0), (ANY_BIT, 1, 0, CLONE_THREAD), refused(EPERM), ALLOWED]


def _futex() -> list[Step]:
    """Allow futexes private to the process. Shared ones can lie in a file's pages: children could wake each other.

    The C library joins a thread by waiting on a shared futex, which the kernel wakes. A refused wait therefore fails
    with EAGAIN: to the library, that looks as if it had been woken.
    """
    steps = [_argument(1), (ANY_BIT, 0, 1, FUTEX_PRIVATE), ALLOWED]
    for wait in FUTEX_WAITS:
        steps += [(EQUAL, 0, 1, wait), refused(EAGAIN)]
    return [*steps, refused(EPERM)]


def _only(index: int, allowed: Iterable[int]) -> list[Step]:
    """Allow these values of an argument of 32 bits; refuse the rest."""
    steps = [_argument(index)]
    for value in allowed:
        steps += [(EQUAL, 0, 1, value), ALLOWED]
    return [*steps, refused(EPERM)]


def _runs(values: Iterable[int]) -> list[tuple[int, int]]:
    """Runs of consecutive numbers, as pairs of first and last."""
    runs: list[tuple[int, int]] = []
    for value in sorted(values):
        if runs and runs[-1][1] == value - 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return runs


class Seccomp(Layer):
    """The system call filter, on Linux machines whose call numbers are known."""

    name = "seccomp"
    guards: frozenset[Guard] = frozenset({"network", "processes", "channels"})

    def measure(self) -> str:
        machine = platform.machine()
        if platform.system() != "Linux" or machine not in MACHINES:
            return f"there is no table of system calls for {platform.system()} on {machine}"
        said = trial({"seccomp": program(machine, "plain").hex()}, TRIAL)
        return "" if said == "refused refused refused works" else f"the filter has no effect: {said}"

    def apply(self, launch: Launch) -> Launch:
        profile: Profile = "torch" if launch.package == "torch" else "plain"
        return launch.with_walls(seccomp=program(platform.machine(), profile).hex())


#: Tries what must be refused, and what must still work.
TRIAL = """
import os, _socket
for attempt in (lambda: _socket.socket(), lambda: os.fork() or os._exit(0), lambda: os.kill(os.getppid(), 0)):
    try:
        attempt()
        print("allowed", end=" ")
    except PermissionError:
        print("refused", end=" ")
print("works" if os.listdir(".") is not None else "")
"""
