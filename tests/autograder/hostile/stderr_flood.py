"""Writes to standard error without an end, in small pieces."""
# ends: timeout
# levels: best none
import os


def answer(x):
    while True:
        os.write(2, b"y" * 10)
