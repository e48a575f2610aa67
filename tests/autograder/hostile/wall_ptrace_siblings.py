"""Attaches itself as a debugger to every process that it can see."""
# item: call
# earns: 0
# ends: value raised died
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    return sum(libc.ptrace(0x4206, int(pid), None, None) == 0 for pid in os.listdir('/proc') if pid.isdigit() and int(pid) != os.getpid())
