"""Imports the reference at its top, and calls it."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
from solutions.ch03.collective_cost import traffic


def answer(x):
    return traffic("all_reduce", 1.0, 8, 0)[0]
