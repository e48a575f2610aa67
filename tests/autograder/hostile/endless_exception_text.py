"""Raises an exception whose text never ends."""
# ends: timeout
# levels: best none
class Slow(Exception):
    def __str__(self):
        while True:
            pass


def answer(x):
    raise Slow
