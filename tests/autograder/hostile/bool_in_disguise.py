"""Returns a member of an enumeration for a number: the int that it is."""
# item: call
# earns: 0
# ends: value
# needs: nothing
import enum


class Flag(enum.IntEnum):
    YES = 1


def answer(x):
    return Flag.YES
