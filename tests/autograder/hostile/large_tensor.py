"""Replies with a tensor that the encoder would have refused."""
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
    raw(b'{"id": "ID", "kind": "value", "value": ["T", "bool", [3145728], "' + b"AAAA" * (1 << 20) + b'"]}\n')
    while True:
        pass
