"""Registers an exit hook that never returns."""
# ends: value
# levels: best none
import atexit
import time

atexit.register(time.sleep, 1000)


def answer(x):
    return 0.0
