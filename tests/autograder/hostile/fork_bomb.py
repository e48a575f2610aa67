"""Forks a tree of processes, each of which stays (bounded here at 60)."""
# item: call
# earns: 0
# ends: timeout value died raised
# needs: nothing
import os
import time


def answer(x):
    for _ in range(60):
        if os.fork() == 0:
            os.setsid()
            while True:
                time.sleep(1)
    return 0.0
