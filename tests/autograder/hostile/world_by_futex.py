"""Ranks wake each other's threads, which wait at a page of a file that both have mapped."""

# item: quiet
# earns: 0
# ends: raised timeout
# needs: channels
import ctypes
import platform
import struct

import torch
import torch.distributed as dist

LIBRARY = ctypes.CDLL(None, use_errno=True)
FUTEX = {"x86_64": 202, "aarch64": 98}[platform.machine()]
WAIT, WAKE = 0, 1


def futex(place, operation, value):
    ended = LIBRARY.syscall(
        FUTEX, ctypes.c_void_p(place), operation, value, None, None, 0
    )
    if ended < 0 and ctypes.get_errno() == 1:
        raise PermissionError("futex")
    return ended


def places():
    first = ctypes.cast(LIBRARY.qsort, ctypes.c_void_p).value & ~7
    return first, first + 4


def send(bits):
    for bit in bits:
        place = places()[bit]
        while futex(place, WAIT, ctypes.c_int.from_address(place).value):
            pass


def receive():
    bits = []
    while len(bits) < 32:
        for bit, place in enumerate(places()):
            bits += [bit] * futex(place, WAKE, 1)
    return bits


def answer(x):
    (word,) = struct.unpack("I", struct.pack("f", float(x[0])))
    bits = [word >> place & 1 for place in range(32)]
    if dist.get_rank() == 0:
        send(bits)
        told = receive()
    else:
        told = receive()
        send(bits)
    return (
        x
        + struct.unpack(
            "f", struct.pack("I", sum(bit << place for place, bit in enumerate(told)))
        )[0]
    )
