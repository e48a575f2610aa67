"""Registers an exit hook that never returns."""
# item: call
# earns: 0
# ends: value
# needs: nothing
import atexit
import time

atexit.register(time.sleep, 1000)


def answer(x):
    return 0.0
