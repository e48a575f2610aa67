"""Reads address zero."""
# item: call
# earns: 0
# ends: died
# needs: nothing
import ctypes


def answer(x):
    ctypes.string_at(0)
