"""Returns an exact number of another type."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
from fractions import Fraction


def answer(x):
    return Fraction(1, 3)
