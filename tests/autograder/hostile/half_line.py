"""Writes half of a reply and stops."""
# item: call
# earns: 0
# ends: timeout
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
    raw(b'{"id": "ID", "kind": "val')
    while True:
        pass
