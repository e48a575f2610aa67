"""Ignores every signal that can be ignored, and stays."""
# item: call
# earns: 0
# ends: timeout
# needs: nothing
import signal
import time

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)


def answer(x):
    while True:
        time.sleep(1)
