"""Exits with a status that is its input."""
# item: call
# earns: 0
# ends: died
# needs: nothing
import os


def answer(x):
    os._exit(int(abs(x[0])))
