"""Writes its right replies byte by byte."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
import os
import sys


def child():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"]


def raw(data):
    channel = child().channel
    os.write(channel.replies, data.replace(b"ID", channel.id.encode()))


def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0



write = os.write


def slowly(descriptor, data):
    return write(descriptor, data[:1])


def answer(x):
    os.write = slowly
    return right(x)
