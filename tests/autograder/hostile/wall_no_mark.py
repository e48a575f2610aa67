"""Takes back what it was marked with, and leaves a process that is not marked."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    libc.prctl(38, 0, 0, 0, 0)
    libc.prctl(36, 1, 0, 0, 0)
    if os.fork() == 0:
        os.setsid()
        libc.prctl(1, 0, 0, 0, 0)
        libc.pause()
    return 0.0
