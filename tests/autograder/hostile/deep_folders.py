"""Leaves folders nested deeper than Python's own removal can walk."""
# item: call
# earns: 0
# ends: value raised timeout
# needs: nothing
import os


def answer(x):
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")
    return 0.0
