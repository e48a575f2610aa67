"""Raises an exception whose text never ends."""
# item: call
# earns: 0
# ends: timeout
# needs: nothing
class Slow(Exception):
    def __str__(self):
        while True:
            pass


def answer(x):
    raise Slow
