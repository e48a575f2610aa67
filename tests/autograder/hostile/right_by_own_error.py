"""Refuses with an exception of its own that is a ValueError by descent only."""
# item: call
# earns: 2.5
# ends: value raised
# needs: nothing
class Negative(ValueError):
    pass


def answer(x):
    if min(x) < 0:
        raise Negative
    return sum(v * v for v in x) + 1.0
