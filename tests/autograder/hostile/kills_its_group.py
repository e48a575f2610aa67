"""Kills its own process group."""
# item: call
# earns: 0
# ends: raised died
# needs: nothing
import os
import signal


def answer(x):
    os.killpg(0, signal.SIGKILL)
