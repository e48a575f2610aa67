"""Returns an int subclass."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
import enum


class Flag(enum.IntEnum):
    YES = 1


def answer(x):
    return Flag.YES
