"""The filter of system calls: its numbers are libseccomp's, and the program does what the table says, call by call."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest

from autograder.sandbox.seccomp import (
    ALLOW,
    FORBIDDEN,
    KILL,
    LAST,
    MACHINES,
    PROFILES,
    SPECIAL,
    X32,
    Seccomp,
    numbers,
    program,
)

REFUSED, AGAIN, UNKNOWN = 0x00050001, 0x0005000B, 0x00050026
CLONE_THREAD = 0x00010000
PTHREAD = 0x003D0F00  # the flags of pthread_create: memory, files, signals, thread and more

#: Calls that came after libseccomp 2.5; from 424 on a call has the same number everywhere.
NEWER = {"fchmodat2", "setxattrat", "removexattrat", "file_setattr", "statmount", "listmount", "open_tree_attr"}
NEWER |= {"cachestat", "futex_waitv", "futex_wake", "futex_wait", "futex_requeue"}

#: What must be among the forbidden whatever else is: one or more of each family.
MUST = """socket socketpair connect bind execve execveat ptrace process_vm_readv process_vm_writev kill tkill tgkill
pidfd_open pidfd_getfd pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo setpriority sched_setscheduler ioprio_set
unshare setns mount umount2 chroot pivot_root open_tree move_mount fsopen mount_setattr io_uring_setup bpf
perf_event_open userfaultfd keyctl add_key request_key kexec_load init_module finit_module memfd_create memfd_secret
shmget msgget semget mq_open open_by_handle_at personality setresuid capset fchmod fchownat utimensat
flock mincore fadvise64 readahead cachestat preadv2 futex_waitv futex_wake sysinfo statfs fstatfs pipe2 timer_create
get_mempolicy mbind"""


def run(code: bytes, number: int, machine: int, arguments: Sequence[int] = ()) -> int:
    """What a program of classic BPF returns for a system call: an interpreter of the six instructions in use."""
    data = struct.pack("=IIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("=HBBI", code))
    place = accumulator = 0
    while True:
        operation, true, false, constant = steps[place]
        place += 1
        if operation == 0x20:  # ld [k]
            (accumulator,) = struct.unpack_from("=I", data, constant)
        elif operation == 0x06:  # ret k
            return constant
        else:
            holds = {
                0x15: accumulator == constant,
                0x25: accumulator > constant,
                0x35: accumulator >= constant,
                0x45: bool(accumulator & constant),
            }[operation]
            place += true if holds else false


BOTH = [(machine, profile) for machine in MACHINES for profile in PROFILES]


def forbidden(machine: str) -> set[int]:
    names = {row.split()[0] for text in FORBIDDEN.values() for row in text.split(",")}
    return {number for name, number in numbers(machine).items() if name in names}


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_those_of_libseccomp(machine):
    """Kills a table with a slip of the pen, on the machine at hand and on the other one."""
    library = pytest.importorskip("pyseccomp", exc_type=(ImportError, OSError, RuntimeError))
    arch = {"x86_64": library.Arch.X86_64, "aarch64": library.Arch.AARCH64}[machine]
    known = numbers(machine)
    every = {row.split()[0] for text in FORBIDDEN.values() for row in text.split(",")}
    for name in every | set(known):
        try:
            theirs = library.resolve_syscall(arch, name)
        except (OSError, ValueError):
            theirs = -1
        if theirs < 0:
            assert name not in known or (name in NEWER and 424 < known[name] <= LAST), name
        else:
            assert known.get(name) == theirs, name


def test_calls_that_are_new_have_one_number_on_both_machines():
    tables = [numbers(machine) for machine in MACHINES]
    assert {name: tables[0][name] for name in NEWER} == {name: tables[1][name] for name in NEWER}
    assert max(tables[0][name] for name in NEWER) == LAST


@pytest.mark.parametrize("machine", MACHINES)
def test_every_family_is_forbidden(machine):
    """Kills a table that lost a row."""
    closed = forbidden(machine)
    assert [name for name in MUST.split() if numbers(machine)[name] not in closed] == []
    assert machine != "x86_64" or {numbers(machine)[name] for name in ("fork", "vfork")} <= closed


@pytest.mark.parametrize(("machine", "profile"), BOTH)
def test_the_program_refuses_what_the_table_says_and_nothing_else(machine, profile):
    """Kills a jump that is one too long: every number is tried."""
    known, closed, code = numbers(machine), forbidden(machine), program(machine, profile)
    special = {known[row.split()[0]] for row in SPECIAL.split(",")}
    for number in range(LAST + 40):
        if number in special:
            continue
        expected = UNKNOWN if number > LAST else REFUSED if number in closed else ALLOW
        assert run(code, number, MACHINES[machine]) == expected, number
    assert run(code, 0xFFFFFFFF, MACHINES[machine]) != ALLOW


@pytest.mark.parametrize(("machine", "profile"), BOTH)
def test_arguments_decide_where_they_must(machine, profile):
    known, code = numbers(machine), program(machine, profile)

    def call(name: str, *arguments: int) -> int:
        return run(code, known[name], MACHINES[machine], arguments)

    assert call("clone", 17) == REFUSED  # SIGCHLD: what fork does
    assert call("clone", PTHREAD) == (ALLOW if profile == "torch" else REFUSED)
    assert call("clone", PTHREAD & ~CLONE_THREAD) == REFUSED
    assert call("clone3", 1, 88) == UNKNOWN  # so that libc takes clone
    assert (call("prlimit64", 0, 7), call("prlimit64", 1, 7)) == (ALLOW, REFUSED)
    assert call("prlimit64", 1 << 32, 7) == ALLOW  # the kernel takes 32 bits of a process id: this is 0
    assert {call("fcntl", 3, operation) for operation in (0, 1, 2, 3, 4, 1030)} == {ALLOW}
    locks, owners, leases, hints = range(5, 8), (8, 10, 15), (1024, 1025, 1026), range(1035, 1039)
    closed = {call("fcntl", 3, operation) for operation in (*locks, *owners, *leases, *hints, 36, 37, 38, 1 << 32 | 6)}
    assert closed == {REFUSED}
    assert {call("ioctl", 0, request) for request in (0x5401, 0x5421, 0x5451)} == {ALLOW}
    assert {call("ioctl", 0, request) for request in (0x5412, 0x541C, 0x5412 | 1 << 40, 0x40086602)} == {REFUSED}


@pytest.mark.parametrize(("machine", "profile"), BOTH)
def test_nobody_is_woken_across_processes(machine, profile):
    """Kills a filter that forgets that a queue of waiting threads may stand at a page of the library's file."""
    code = program(machine, profile)
    futex = [run(code, numbers(machine)["futex"], MACHINES[machine], (0, operation)) for operation in range(14)]
    own = [run(code, numbers(machine)["futex"], MACHINES[machine], (0, operation | 128)) for operation in range(14)]
    assert own == [ALLOW] * 14
    assert [operation for operation, end in enumerate(futex) if end == AGAIN] == [0, 9]  # waits: as if woken
    assert set(futex) == {AGAIN, REFUSED}


@pytest.mark.parametrize(("machine", "profile"), BOTH)
def test_only_what_concerns_the_caller_is_told_and_advised(machine, profile):
    known, code = numbers(machine), program(machine, profile)

    def call(name: str, *arguments: int) -> int:
        return run(code, known[name], MACHINES[machine], arguments)

    for name in ("sched_getaffinity", "sched_getattr", "getpgid", "getsid", "get_robust_list"):
        assert (call(name, 0), call(name, 7)) == (ALLOW, REFUSED), name
    for name in ("getpriority", "ioprio_get"):
        assert (call(name, 1, 0), call(name, 1, 7)) == (ALLOW, REFUSED), name
    other = (~7 << 3 | 2) & 0xFFFFFFFF  # the processor time of process 7
    for name in ("clock_gettime", "clock_getres", "clock_nanosleep"):
        assert (call(name, 2), call(name, other)) == (ALLOW, REFUSED), name
    assert {call("madvise", 0, 0, advice) for advice in (0, 4, 8, 14, 16)} == {ALLOW}
    assert {call("madvise", 0, 0, advice) for advice in (9, 12, 20, 21, 25, 100)} == {REFUSED}
    assert (call("prctl", 15), call("prctl", 62)) == (ALLOW, REFUSED)


@pytest.mark.parametrize(("machine", "profile"), BOTH)
def test_a_call_of_another_architecture_ends_the_process(machine, profile):
    """Kills a filter that is walked around with the numbers of 32 bits."""
    code = program(machine, profile)
    i386, arm = 0x40000003, 0x40000028
    (other,) = set(MACHINES.values()) - {MACHINES[machine]}
    assert {run(code, 1, foreign) for foreign in (i386, arm, other)} == {KILL}
    if machine == "x86_64":
        assert {run(code, X32 | number, MACHINES[machine]) for number in (0, 1, 41, 520)} == {KILL}


@pytest.mark.parametrize(("machine", "profile"), BOTH)
def test_the_kernel_could_take_the_program(machine, profile):
    """At most 4,096 steps, forward jumps inside the program, and a return at the end."""
    steps = list(struct.iter_unpack("=HBBI", program(machine, profile)))
    assert len(steps) < 4096
    assert steps[-1][0] == 0x06
    for place, (operation, true, false, _) in enumerate(steps):
        if operation not in (0x20, 0x06):
            assert max(true, false) + place + 1 < len(steps)


def test_another_machine_or_profile_is_an_error():
    with pytest.raises(ValueError, match="machine must be one of x86_64, aarch64, got 'riscv64'"):
        program("riscv64", "plain")
    with pytest.raises(ValueError, match="profile must be one of plain, torch, got 'free'"):
        program("x86_64", "free")


def test_a_machine_without_a_table_says_so(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert Seccomp().measure() == "there is no table of system calls for Linux on riscv64"


def test_a_filter_that_does_not_bite_is_not_believed(monkeypatch):
    """Kills a measure that only looks whether the kernel takes a filter."""
    allow_all = struct.pack("=HBBI", 0x06, 0, 0, ALLOW)
    monkeypatch.setattr("autograder.sandbox.seccomp.program", lambda *_: allow_all)
    assert Seccomp().measure() == "the filter has no effect: allowed allowed allowed works"
