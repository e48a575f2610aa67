"""Aborts."""
# item: call
# earns: 0
# ends: died
# needs: nothing
import os


def answer(x):
    os.abort()
