"""Leaves a process that is started again as soon as one that it knows has gone (bounded here)."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import os
import time


def answer(x):
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        for _ in range(6):
            if os.fork():
                os._exit(0)
            time.sleep(0.02)
        time.sleep(1000)
    return 0.0
