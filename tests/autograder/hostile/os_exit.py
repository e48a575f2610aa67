"""Leaves through os._exit with a status of success."""
# item: call
# earns: 0
# ends: died
# needs: nothing
import os


def answer(x):
    os._exit(0)
