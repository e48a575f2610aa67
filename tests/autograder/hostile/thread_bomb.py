"""Starts threads that never end (bounded here at 500)."""
# item: call
# earns: 0
# ends: raised value timeout died
# needs: nothing
import threading


def answer(x):
    for _ in range(500):
        threading.Thread(target=threading.Event().wait).start()
    return 0.0
