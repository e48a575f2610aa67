"""Says for ever that it is still importing."""
# item: call
# earns: 0
# ends: timeout
# needs: nothing
import sys


def answer(x):
    frame = sys._getframe()
    while frame is not None and "self" not in frame.f_locals:
        frame = frame.f_back
    while True:
        frame.f_locals["self"].channel.send(kind="running", unit=0)
