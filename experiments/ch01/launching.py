"""What a launcher tells the processes it starts: the same short program under two launchers. Standard library only.

for seen in launched("torchrun", ranks=2):
    print(seen)
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankzero import checks
from rankzero.world import processes

#: What a launcher may set, in the order in which the library's documentation names them.
VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")

LAUNCHERS = ("spawn", "torchrun")

#: What every process runs; its arguments are the names of the variables. It writes its line in one call, because two
#: processes share a pipe.
PROGRAM = """\
import json, os, sys

seen = {name: os.environ.get(name) for name in sys.argv[1:]}
sys.stdout.write(json.dumps(seen) + "\\n")
"""

GRACE = 10.0  # seconds that a launcher may take to stop its processes when told to


def launched(
    launcher: str, ranks: int = 2, timeout: float = 60.0, program: str = PROGRAM
) -> list[dict[str, str | None]]:
    """What each process sees of the five variables when ``launcher`` starts ``ranks`` of them.

    The processes run in an empty folder. They inherit this process's environment, except for the five variables and
    those that a launcher adds. Nothing of them is left afterward.

    Args:
        launcher: ``spawn`` starts each process with a plain call to the system; ``torchrun`` is
            ``python -m torch.distributed.run --standalone``, which asks the system for a free port.
        ranks: how many processes; at least 1.
        timeout: seconds after which all of them are terminated; positive.
        program: what each process runs; it prints one line of JSON, a dict.

    Returns:
        One dict for each process: the value of each variable, None where it is not set. Ordered by RANK where that is
        set, else as they were started.

    Raises:
        TimeoutError: the processes did not finish in time.
        RuntimeError: a process failed; the message ends with what it wrote last.
    """
    checks.one_of(LAUNCHERS, launcher=launcher)
    checks.count(ranks=ranks)
    checks.positive(timeout=timeout)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(program, encoding="utf-8")
        lines = _run(_commands(launcher, ranks, str(file)), folder, time.monotonic() + timeout)
    seen = [json.loads(line) for line in lines]
    return sorted(seen, key=lambda one: int(one["RANK"] or 0))


def _commands(launcher: str, ranks: int, file: str) -> list[list[str]]:
    """One command for each process, or one for the launcher of all."""
    if launcher == "spawn":
        return [[sys.executable, file, *VARIABLES] for _ in range(ranks)]
    options = ["--standalone", "--nproc-per-node", str(ranks)]
    return [[sys.executable, "-m", "torch.distributed.run", *options, file, *VARIABLES]]


def _run(commands: Sequence[Sequence[str]], folder: str, deadline: float) -> list[str]:
    """Run the commands side by side and return the lines they print; every process is terminated at the deadline."""
    started: list[subprocess.Popen[str]] = []
    try:
        for command in commands:
            started.append(_start(command, folder))
        return [line for process in started for line in _output(process, deadline).splitlines()]
    finally:
        for process in started:
            _end(process)


def _start(command: Sequence[str], folder: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=processes.die_with_parent,
    )


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """An environment with no launcher's variables in it. It asks for one thread, so that torchrun prints no warning."""
    kept = {name: value for name, value in given.items() if name not in VARIABLES}
    kept = {name: value for name, value in kept.items() if not name.startswith(("TORCHELASTIC_", "GROUP_", "ROLE_"))}
    return kept | {"OMP_NUM_THREADS": "1"}


def _output(process: subprocess.Popen[str], deadline: float) -> str:
    try:
        output, errors = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TimeoutError("the processes did not finish in time and were terminated") from None
    if process.returncode:
        last = (errors.strip().splitlines() or ["it wrote nothing"])[-1]
        raise RuntimeError(f"a process ended with status {process.returncode}: {last}")
    return output


def _end(process: subprocess.Popen[str]) -> None:
    """Terminate a process and those it started: torchrun terminates its own when told to."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    process.wait()
