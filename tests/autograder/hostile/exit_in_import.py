"""Leaves with success while it is imported."""
# item: call
# earns: 0
# ends: unloadable missing
# needs: nothing
import os

os._exit(0)


def answer(x):
    return 1.0
