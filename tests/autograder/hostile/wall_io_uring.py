"""Asks the kernel for an io_uring, whose operations no filter of system calls sees."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    return libc.syscall(425, 8, ctypes.create_string_buffer(120))
