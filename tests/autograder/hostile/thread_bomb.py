"""Starts threads that never end (bounded here at 500)."""
# ends: raised value timeout died
# levels: best none
import threading


def answer(x):
    for _ in range(500):
        threading.Thread(target=threading.Event().wait).start()
    return 0.0
