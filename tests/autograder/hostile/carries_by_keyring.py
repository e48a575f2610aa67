"""Leaves its input in the kernel's keyring, and tells it when it is imported again."""
# item: call
# earns: 0
# ends: died unloadable
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None)
ADD_KEY, KEYCTL, USER_KEYRING, SEARCH, READ = 248, 250, -4, 10, 11


def keep(text):
    libc.syscall(ADD_KEY, b"user", b"hostile", text.encode(), len(text), USER_KEYRING)


found = libc.syscall(KEYCTL, SEARCH, USER_KEYRING, b"user", b"hostile", 0)
if found > 0:
    buffer = ctypes.create_string_buffer(1000)
    libc.syscall(KEYCTL, READ, found, buffer, 1000)
    raise RuntimeError(buffer.value.decode(errors="replace"))


def answer(x):
    keep(repr(x))
    os._exit(0)
