"""Leaves a thread that never ends."""
# item: call
# earns: 0
# ends: raised value
# needs: nothing
import threading
import time


def stay():
    while True:
        time.sleep(0.01)


def answer(x):
    threading.Thread(target=stay).start()
    return 0.0
