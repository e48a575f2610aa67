"""Yields where it should return."""
# ends: refused
# levels: best none
def answer(x):
    yield 1.0
