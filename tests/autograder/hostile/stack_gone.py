"""Lifts the recursion limit and recurses until the stack is gone."""
# item: call
# earns: 0
# ends: died raised timeout
# needs: nothing
import sys


class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x")


def answer(x):
    sys.setrecursionlimit(10**9)
    value = []
    for _ in range(10**6):
        value = [value]
    return repr(value)
