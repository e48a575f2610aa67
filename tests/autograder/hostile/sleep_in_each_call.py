"""Sleeps, which no limit of processor time sees."""
# item: call
# earns: 0
# ends: timeout
# needs: nothing
import time


def answer(x):
    time.sleep(1000)
