"""Sleeps, which no limit of processor time sees."""
# ends: timeout
# levels: best none
import time


def answer(x):
    time.sleep(1000)
