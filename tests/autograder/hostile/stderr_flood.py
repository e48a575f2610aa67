"""Writes to standard error without an end, in small pieces."""
# item: call
# earns: 0
# ends: timeout
# needs: nothing
import os


def answer(x):
    while True:
        os.write(2, b"y" * 10)
