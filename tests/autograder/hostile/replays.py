"""Sends the replies of its earlier calls again."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import os
import sys

said = []


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
    channel = child().channel
    for line in said:
        os.write(channel.replies, line)
    said.append(b'{"id": "%b", "kind": "value", "value": ["f", "0x1.8p+2"]}\n' % channel.id.encode())
    return right(x)
