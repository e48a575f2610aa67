"""Kills every process that it can reach."""
# ends: died timeout raised value
# levels: best
import os
import signal


def answer(x):
    assert os.getuid() == 65534, "only inside"
    os.kill(-1, signal.SIGKILL)
    return 0.0
