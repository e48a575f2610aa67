"""Opens other processes and copies their descriptors."""
# item: call
# earns: 0
# ends: value raised died
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    got = 0
    for pid in (os.getppid(), 1):
        handle = libc.syscall(434, pid, 0)
        for number in range(32):
            got += libc.syscall(438, handle, number, 0) >= 0
    return got
