"""Replies with arguments that would take for ever to walk."""
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
    raw(b'{"id": "ID", "kind": "value", "value": ["f", "0x1.8p+2"], "arguments": ["r", 0, 1000000000000000000, 1]}\n')
    while True:
        pass
