"""Kernels that are forked from one process with their imports done (``tools/kernel_server.py``): a build executes many
notebooks, and importing takes each as long as its cells."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

from rankzero.world.forkserver import Forked
from tools.common import ROOT


class Kernel(Forked):
    """A kernel, as a provisioner knows a process that it has started."""

    stdin = stdout = None


@contextlib.contextmanager
def server() -> Iterator[Path]:
    """The socket of a server of kernels; at the end the server stops, and with it all its kernels."""
    with tempfile.TemporaryDirectory() as folder:
        address = Path(folder, "kernels")
        command = [sys.executable, str(ROOT / "tools" / "kernel_server.py"), str(address)]
        inline = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # a kernel's own choice
        with subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, **inline}, cwd=ROOT) as process:
            while not address.exists() and process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
            yield address


def ask(address: Path, **request: object) -> Kernel:
    """A new kernel of the server at ``address``."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(address))
        connection.sendall(json.dumps(request).encode() + b"\n")
        return Kernel(int(connection.makefile().readline()))


def manager(address: Path) -> type[AsyncKernelManager]:
    """A kernel manager whose kernels are forks of the server at ``address``."""

    class Manager(AsyncKernelManager):
        async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
            arguments = kernel_cmd[kernel_cmd.index("ipykernel_launcher") + 1 :]
            assert isinstance(self.provisioner, LocalProvisioner)
            kernel = ask(address, arguments=arguments, folder=options["cwd"], environment=options["env"])
            self.provisioner.process = kernel  # type: ignore[assignment]
            self.provisioner.pid = self.provisioner.pgid = kernel.pid  # type: ignore[assignment]
            self._reconcile_connection_info(self.provisioner.connection_info)

    return Manager
