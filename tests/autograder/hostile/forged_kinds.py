"""Replies with every kind of end that there is."""
# item: call
# earns: 0
# ends: died value raised refused missing unloadable
# needs: nothing
import sys


def answer(x):
    frame = sys._getframe()
    while frame is not None and "self" not in frame.f_locals:
        frame = frame.f_back
    for kind in ("passed", "ready", "loaded", "missing", "value", None, 3):
        frame.f_locals["self"].channel.send(kind=kind)
    return 0.0
