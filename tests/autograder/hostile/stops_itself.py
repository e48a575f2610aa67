"""Stops its own process, so that it neither answers nor ends."""
# item: call
# earns: 0
# ends: raised timeout
# needs: nothing
import os
import signal


def answer(x):
    os.kill(os.getpid(), signal.SIGSTOP)
