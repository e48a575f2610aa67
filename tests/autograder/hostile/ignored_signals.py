"""Ignores every signal that can be ignored, and stays."""
# ends: timeout
# levels: best none
import signal
import time

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)


def answer(x):
    while True:
        time.sleep(1)
