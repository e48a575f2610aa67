"""Returns an int subclass."""
# ends: refused
# levels: best none
import enum


class Flag(enum.IntEnum):
    YES = 1


def answer(x):
    return Flag.YES
