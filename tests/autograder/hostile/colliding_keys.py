"""Replies with dictionary keys that all have the same hash."""
# item: call
# earns: 0
# ends: died timeout
# needs: nothing
import os
import sys


def raw(data):
    frame = sys._getframe()
    while frame is not None and "self" not in frame.f_locals:
        frame = frame.f_back
    channel = frame.f_locals["self"].channel
    data = data.replace(b"ID", channel.id.encode()) + b"\n"
    while data:
        data = data[os.write(channel.replies, data) :]


def answer(x):
    pairs = ",".join(f"[{i * (2**61 - 1)},0]" for i in range(1, 40_000))
    raw(b'{"id": "ID", "kind": "value", "value": ["d",' + pairs.encode() + b"]}")
    while True:
        pass
