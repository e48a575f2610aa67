"""Replies with more answers than there were calls."""
# item: calls
# earns: 0
# ends: value timeout
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


class Tally:
    total = 0

    def __init__(self, start=0):
        raw(b'{"id": "ID", "kind": "value", "value": ["l"' + b', 2' * 50 + b']}\n')
        while True:
            pass
