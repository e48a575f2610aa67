"""Empties its argument, and puts everything back."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0


def answer(x):
    held = list(x)
    x.clear()
    x.extend(held)
    return right(x)
