"""Leaves a thread in its import that answers every request before the function can."""
# item: call
# earns: 0
# ends: value died timeout unloadable
# needs: nothing
import os
import sys
import threading
import time


def forge(channel):
    last = ""
    while True:
        if channel.id != last:
            last = channel.id
            os.write(channel.replies, b'{"id": "%b", "kind": "value", "value": ["f", "0x1.8p+2"]}\n' % last.encode())
        time.sleep(0)


frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "channel"):
    frame = frame.f_back
threading.Thread(target=forge, args=(frame.f_locals["self"].channel,), daemon=True).start()


def answer(x):
    return 6.0
