"""Leaves a message queue behind."""
# item: call
# earns: 0
# ends: value raised died
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    libc.mq_open(b'/hostile-left', 0o102, 0o666, None)
    return libc.msgget(0x5EC2E7, 0o1666)
