"""Leaves folders nested deeper than Python's own removal can walk."""
# ends: value raised timeout
# levels: best none
import os


def answer(x):
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")
    return 0.0
