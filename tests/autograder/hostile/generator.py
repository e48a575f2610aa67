"""Yields where it should return."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
def answer(x):
    yield 1.0
