"""A process that has imported what kernels of pages need, and forks them: a script, started by :mod:`tools.kernels`.

It is no module of a package, so that it is not among the modules that a kernel has loaded. Only common modules are
imported: a fork knows no chapter before its page does. Beside it runs one server of worlds
(:mod:`rankzero.world.forkserver`), of which each kernel gets a fork of its own.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import NoReturn

from rankzero.world import forkserver

PRELOADED = (
    "ipykernel.kernelapp",
    "ipykernel_launcher",
    "ipywidgets",
    "torch",
    "torch.utils.data",
    *forkserver.PRELOADED_LATER,
    "matplotlib.backends.backend_svg",
    "matplotlib_inline.backend_inline",
    "rankzero.explore",
    "rankzero.figures",
    "rankzero.figures.plots",
    "rankzero.server",
    "rankzero.sim.network",
    "rankzero.tiny",
    "rankzero.world",
)


def main(address: str) -> None:
    """Fork a kernel for each request that arrives at ``address``, until standard input ends."""
    del sys.path[0]  # the folder of this script
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    worlds = forkserver.Forkserver()
    worlds.preload(forkserver.PRELOADED_LATER)
    for module in PRELOADED:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps the kernels
    gc.collect()
    gc.freeze()
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        with connection:
            asked = json.loads(connection.makefile().readline())
            if not (kernel := os.fork()):
                listener.close()
                connection.close()
                become(worlds.control, **asked)
            connection.sendall(b"%d\n" % kernel)
    worlds.close()


def become(worlds: socket.socket, arguments: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Make this fork the kernel that ``python -m ipykernel_launcher`` starts with these arguments."""
    from ipykernel import kernelapp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = [str(sys.modules["ipykernel_launcher"].__file__), *arguments]
    with worlds:
        forkserver.fork_of(worlds)
    kernelapp.launch_new_instance(argv=[*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])
    sys.exit()


if __name__ == "__main__":
    main(sys.argv[1])
