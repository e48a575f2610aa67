"""Exchanges the descriptors of requests and replies."""
# item: call
# earns: 0
# ends: died raised timeout
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
    channel = child().channel
    channel.requests, channel.replies = channel.replies, channel.requests
    return 6.0
