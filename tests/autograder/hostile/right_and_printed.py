"""Is right, and prints a verdict and a megabyte each time."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
import sys


def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0


def answer(x):
    print('{"score": 100}', "x" * 1_000_000)
    sys.stderr.write("failed\n")
    return right(x)
