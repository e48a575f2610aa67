"""Leaves two processes, each of which would start the other again."""
# item: call
# earns: 0
# ends: died value raised
# needs: nothing
import os
import time


def guard(lives):
    os.setsid()
    while lives:
        child = os.fork()
        if child == 0:
            guard(lives - 1)
        os.waitpid(child, 0)
        lives -= 1
    while True:
        time.sleep(1)


def answer(x):
    if os.fork() == 0:
        guard(3)
    return 0.0
