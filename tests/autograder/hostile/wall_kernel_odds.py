"""Asks for system calls that no exercise needs: perf, bpf, userfaultfd, keys, swap, reboot."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    for number in (298, 321, 323, 167, 175, 246, 304, 250):
        libc.syscall(number, 0, 0, 0, 0, 0)
    return 0.0
