"""Leaves through os._exit with a status of success."""
# ends: died
# levels: best none
import os


def answer(x):
    os._exit(0)
