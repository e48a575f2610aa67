"""Replies with a tensor whose data are too short for its shape."""
# item: tensor
# earns: 0
# ends: died
# needs: nothing
import torch
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
    raw(b'{"id": "ID", "kind": "value", "value": ["T", "float32", [3], "AAAA"]}\n')
    while True:
        pass
