"""Leaves its input in shared memory, and tells it when it is imported again."""
# item: call
# earns: 0
# ends: died unloadable
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p


def segment():
    place = libc.shmat(libc.shmget(0x5EC2E7, 4096, 0o1666), None, 0)
    return place if place not in (None, 2**64 - 1) else 0


def keep(text):
    place = segment()
    if place:
        ctypes.memmove(place, text.encode() + b"\0", len(text) + 1)


place = segment()
if place and ctypes.string_at(place):
    raise RuntimeError(ctypes.string_at(place).decode())


def answer(x):
    keep(repr(x))
    os._exit(0)
