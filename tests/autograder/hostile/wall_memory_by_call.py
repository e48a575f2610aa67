"""Reads its parent's memory by a system call that needs no file."""
# item: call
# earns: 0
# ends: value raised died
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    class Part(ctypes.Structure):
        _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]

    buffer = ctypes.create_string_buffer(4096)
    mine, theirs = Part(ctypes.addressof(buffer), 4096), Part(0x400000, 4096)
    return libc.process_vm_readv(os.getppid(), ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
