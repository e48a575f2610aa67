"""Returns an exact number of another type."""
# ends: refused
# levels: best none
from fractions import Fraction


def answer(x):
    return Fraction(1, 3)
