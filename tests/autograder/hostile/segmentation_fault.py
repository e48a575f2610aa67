"""Reads address zero."""
# ends: died
# levels: best none
import ctypes


def answer(x):
    ctypes.string_at(0)
