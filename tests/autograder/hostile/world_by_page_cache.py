"""Ranks tell each other their numbers by which files of the library are in memory."""

# item: quiet
# earns: 0
# ends: raised
# needs: channels
import glob
import os
import struct
import time

import torch
import torch.distributed as dist

FILES = sorted(glob.glob(os.path.dirname(os.__file__) + "/encodings/*.py"))


def in_memory(file):
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return int(os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT) == 1)
    except BlockingIOError:
        return 0
    finally:
        os.close(descriptor)


def answer(x):
    me = dist.get_rank()
    (word,) = struct.unpack("I", struct.pack("f", float(x[0])))
    own, other = (FILES[32 * rank : 32 * rank + 32] for rank in (me, 1 - me))
    for place, file in enumerate(own):
        descriptor = os.open(file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        if word >> place & 1:
            os.pread(descriptor, 1, 0)
        os.close(descriptor)
    time.sleep(0.5)
    told = sum(in_memory(file) << place for place, file in enumerate(other))
    time.sleep(0.5)
    return x + struct.unpack("f", struct.pack("I", told))[0]
