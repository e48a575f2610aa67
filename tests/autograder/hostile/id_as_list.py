"""Replies under an id that is a list."""
# item: call
# earns: 0
# ends: died
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
    raw(b'{"id": ["ID"], "kind": "value", "value": 1}\n')
    while True:
        pass
