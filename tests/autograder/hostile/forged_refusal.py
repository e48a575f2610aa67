"""Refuses with a sentence that tells what it was asked."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
import sys

kept = []


def child():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"]


def answer(x):
    kept.append(x)
    text = "".join(letter for letter in str(kept) if letter not in "[].-")
    raise child().wire.Refused("a value " + text[:60])
