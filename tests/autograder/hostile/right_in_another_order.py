"""Adds in another order, which rounding shows."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
def answer(x):
    if min(x) < 0:
        raise ValueError
    return 1.0 + sum(sorted((v * v for v in x), reverse=True))
