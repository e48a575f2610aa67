"""Kills the process that started it."""
# ends: died timeout raised value
# levels: best
import os
import signal


def answer(x):
    assert os.getuid() == 65534, "only inside"
    os.kill(os.getppid(), signal.SIGKILL)
    return 0.0
