"""Empties its argument and tells the grader that it did not."""
# item: call
# earns: 0
# ends: died raised
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



def answer(x):
    child().after = lambda wire, args: ["l"]
    value = right(x)
    x.clear()
    return value
