"""Leaves a folder without permissions behind."""
# ends: value raised
# levels: best none
import os


def answer(x):
    os.mkdir("locked")
    open("locked/file", "w").close()
    os.chmod("locked", 0)
    return 0.0
