"""Aborts."""
# ends: died
# levels: best none
import os


def answer(x):
    os.abort()
