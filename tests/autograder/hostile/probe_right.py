"""A right program in the hands of a driver."""
# item: probe
# earns: 4
# ends: value
# needs: nothing


def answer(x, y):
    return x * y
