"""A process that has imported what kernels of pages need, and forks them: a script, started by :mod:`tools.kernels`.

It is no module of a package, so that it is not among the modules that a kernel has loaded. Only common modules are
imported: a fork knows no chapter before its page does. Beside it runs one server of worlds
(:mod:`rankzero.world.forkserver`), of which each kernel gets a fork of its own, and one that draws charts for all
kernels (``tools/still_server.py``).
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType
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
    charts = f"{address}-charts"
    command = [sys.executable, str(Path(__file__).with_name("still_server.py")), charts]
    drawing = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert drawing.stdin is not None
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
                drawing.stdin.close()
                if Path(charts).exists():
                    sys.modules["vl_convert"] = Drawing(charts)
                become(worlds.control, **asked)
            connection.sendall(b"%d\n" % kernel)
    worlds.close()
    drawing.stdin.close()


class Drawing(ModuleType):
    """What a kernel has in the place of ``vl_convert``: it asks the process that draws for all."""

    def __init__(self, address: str) -> None:
        super().__init__("vl_convert")
        self.address = address

    def vegalite_to_svg(self, vl_spec: str, vl_version: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.address)
            connection.sendall(json.dumps({"spec": vl_spec, "version": vl_version}).encode() + b"\n")
            answer = json.loads(connection.makefile().read())
        if "error" in answer:
            raise ValueError(answer["error"])
        return str(answer["svg"])


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
