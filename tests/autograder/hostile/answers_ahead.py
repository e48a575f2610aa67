"""Answers every request that waits, its own first, and then goes on."""
# item: call
# earns: 0
# ends: value died
# needs: nothing
import os
import re
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
    channel = child().channel
    for name in [channel.id.encode(), *re.findall(rb'"id": "([0-9a-f]+)"', bytes(channel.buffer))]:
        os.write(channel.replies, b'{"id": "' + name + b'", "kind": "value", "value": ["f", "0x1.8p+2"], "arguments": null}\n')
    return 6.0
