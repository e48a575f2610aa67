"""Leaves folders nested deeper, call after call, than Python's own removal can walk."""
# item: call
# earns: 0
# ends: value raised timeout died
# needs: nothing
import os


def answer(x):
    for _ in range(150):
        os.mkdir("d")
        os.chdir("d")
    return 0.0
