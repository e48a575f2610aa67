"""Stops its own process, so that it neither answers nor ends."""
# ends: timeout
# levels: best none
import os
import signal


def answer(x):
    os.kill(os.getpid(), signal.SIGSTOP)
