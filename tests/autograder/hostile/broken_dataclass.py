"""Fails half way through its import."""
# item: call
# earns: 0
# ends: unloadable
# needs: nothing
table = {}
table["missing"]


def answer(x):
    return 1.0
