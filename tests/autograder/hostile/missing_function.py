"""Defines another function."""
# ends: missing
# levels: best none
def other(x):
    return 1.0
