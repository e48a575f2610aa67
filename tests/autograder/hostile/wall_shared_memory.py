"""Leaves shared memory behind."""
# item: call
# earns: 0
# ends: value raised died
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    return libc.shmget(0x5EC2E7, 1 << 20, 0o1666)
