"""Kills the process that started it."""
# item: call
# earns: 0
# ends: died timeout raised value
# needs: processes
import os
import signal


def answer(x):
    assert os.getuid() == 65534, "only inside"
    os.kill(os.getppid(), signal.SIGKILL)
    return 0.0
