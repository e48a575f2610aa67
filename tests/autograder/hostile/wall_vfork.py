"""Starts processes by every call that makes one."""
# item: call
# earns: 0
# ends: value raised died timeout
# needs: nothing
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


import time


def answer(x):
    for number in (56, 57):
        if libc.syscall(number, 17, 0, 0, 0, 0) == 0:
            os.setsid()
            while True:
                time.sleep(1)
    os.posix_spawn('/bin/sleep', ['sleep', '1000'], {})
    return 0.0
