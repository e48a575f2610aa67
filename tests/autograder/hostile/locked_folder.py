"""Leaves a folder without permissions behind."""
# item: call
# earns: 0
# ends: value raised
# needs: nothing
import os


def answer(x):
    os.mkdir("locked")
    open("locked/file", "w").close()
    os.chmod("locked", 0)
    return 0.0
