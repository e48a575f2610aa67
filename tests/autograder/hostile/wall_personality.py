"""Switches address randomisation off and asks for another personality."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    return libc.personality(0x0040000 | 0x0008)
