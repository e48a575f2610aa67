"""Replies with a record whose names are numbers of one hash."""
# item: call
# earns: 0
# ends: died timeout
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


def answer(x):
    raw(b'{"id": "ID", "kind": "value", "value": ["R", "A", ' + b", ".join(b"[%d, 0]" % (i * (2**61 - 1)) for i in range(1, 20000)) + b"]}" + bytes([10]))
    while True:
        pass
