"""Fails half way through its import."""
# ends: unloadable
# levels: best none
table = {}
table["missing"]


def answer(x):
    return 1.0
