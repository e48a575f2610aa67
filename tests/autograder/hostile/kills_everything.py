"""Kills every process that it can reach."""
# item: call
# earns: 0
# ends: died timeout raised value
# needs: processes
import os
import signal


def answer(x):
    assert os.getuid() == 65534, "only inside"
    os.kill(-1, signal.SIGKILL)
    return 0.0
