"""Sends a signal to every process that it can name."""
# item: call
# earns: 0
# ends: value raised died timeout
# needs: processes
import os
import signal


def answer(x):
    for pid in range(2, 40_000):
        if pid != os.getpid():
            try:
                os.kill(pid, signal.SIGURG)
            except OSError:
                pass
    return 0.0
