"""Closes every descriptor."""
# item: call
# earns: 0
# ends: died
# needs: nothing
import os


def answer(x):
    os.closerange(0, 256)
    return 0.0
