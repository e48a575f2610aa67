"""Defines another function."""
# item: call
# earns: 0
# ends: missing
# needs: nothing
def other(x):
    return 1.0
