"""Native Windows, as far as Python on another system can play it: what the standard library lacks there is taken away.

``run(code)`` runs a program in such a process. Libraries are imported before, as they know their own way on Windows.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PRELUDE = """
import asyncio, ctypes, importlib.abc, mmap, multiprocessing, os, select, signal, socket, subprocess, sys, tempfile
import cloudpickle, ipywidgets, IPython, jinja2, matplotlib.pyplot, numpy, platformdirs
import torch, torch.distributed, torch.distributed.tensor, torch.utils.checkpoint, torch.nn.parallel
for library in ("altair", "gymnasium", "openai", "pydantic", "starlette.applications", "uvicorn"):
    try:
        __import__(library)
    except ImportError:
        pass

LACKING = {
    os: '''fork forkpty register_at_fork getuid geteuid getgid getegid getgroups getresuid getpgid getpgrp getsid setsid
        setuid setgid seteuid setpgid killpg sched_getaffinity sched_setaffinity sched_yield mkfifo mknod uname chown
        lchown fchown statvfs fstatvfs sysconf confstr pathconf pread pwrite preadv pwritev posix_fallocate
        posix_fadvise posix_spawn posix_spawnp wait wait3 wait4 waitid WNOHANG WUNTRACED WIFSIGNALED WIFSTOPPED
        WTERMSIG WEXITSTATUS WIFEXITED O_NONBLOCK O_CLOEXEC O_NOFOLLOW O_DIRECTORY O_SYNC getloadavg memfd_create
        pidfd_open nice getpriority setpriority openpty ctermid tcgetpgrp tcsetpgrp chroot fchdir fchmod lockf
        getxattr setxattr listxattr sendfile sync initgroups ttyname eventfd splice copy_file_range''',
    signal: '''SIGKILL SIGCHLD SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF SIGHUP SIGPIPE SIGQUIT SIGSTOP SIGCONT SIGTSTP
        SIGTTIN SIGTTOU SIGWINCH SIGBUS SIGSYS SIGTRAP SIGRTMIN SIGRTMAX alarm setitimer getitimer pause siginterrupt
        sigwait sigwaitinfo sigtimedwait sigpending pthread_kill pthread_sigmask ITIMER_REAL ITIMER_VIRTUAL
        ITIMER_PROF SIG_BLOCK SIG_UNBLOCK SIG_SETMASK''',
    socket: "AF_UNIX AF_NETLINK AF_PACKET SCM_RIGHTS send_fds recv_fds CMSG_LEN CMSG_SPACE",
    select: "poll epoll",
    mmap: "MAP_SHARED MAP_PRIVATE MAP_ANONYMOUS PROT_READ PROT_WRITE",
}
for module, names in LACKING.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)

class Missing(importlib.abc.MetaPathFinder):
    names = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "spwd", "crypt", "readline"}
    def find_spec(self, fullname, path=None, target=None):
        if fullname in self.names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

sys.meta_path.insert(0, Missing())
for name in Missing.names:
    sys.modules.pop(name, None)
sys.platform = "win32"
assert not any(name.partition(".")[0] in ("rankzero", "autograder", "solutions", "experiments") for name in sys.modules)
"""


def run(code: str, **environment: str) -> str:
    """What a program prints, standard error included, after Windows has been put in place."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
    )
    return done.stdout
