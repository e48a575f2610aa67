"""Is right, and empties the list that it was given."""
# item: call
# earns: 0
# ends: value raised
# needs: nothing
def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0


def answer(x):
    value = right(x)
    x.clear()
    return value
