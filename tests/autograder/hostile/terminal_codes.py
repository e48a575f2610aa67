"""Raises with codes that repaint a terminal."""
# item: call
# earns: 0
# ends: raised timeout
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
    raw(b'{"id": "ID", "kind": "raised", "error": "\\u001b[2J", "unit": 0, "line": 3, "text": "\\u001b[31mpassed"}')
    while True:
        pass
