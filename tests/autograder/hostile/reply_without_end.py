"""Writes a reply that never ends."""
# item: call
# earns: 0
# ends: died timeout
# needs: nothing
import sys


def answer(x):
    frame = sys._getframe()
    while frame is not None and "self" not in frame.f_locals:
        frame = frame.f_back
    import os
    while True:
        os.write(frame.f_locals["self"].channel.replies, b"[" * 65536)
