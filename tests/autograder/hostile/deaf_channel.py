"""Closes the requests, so that the child believes that the grader has gone."""
# item: call
# earns: 0
# ends: value raised died
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
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, child().channel.requests)
    child().channel.buffer.clear()
    return right(x)
