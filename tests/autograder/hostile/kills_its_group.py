"""Kills its own process group."""
# ends: died
# levels: best none
import os
import signal


def answer(x):
    os.killpg(0, signal.SIGKILL)
