"""Attaches itself as a debugger to the process that started it."""
# item: call
# earns: 0
# ends: value raised died
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    return libc.ptrace(0x4206, os.getppid(), None, None)
