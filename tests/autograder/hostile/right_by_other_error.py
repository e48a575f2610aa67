"""Is right, and refuses with another class of exception."""
# item: call
# earns: 2.5
# ends: value raised
# needs: nothing
def answer(x):
    if min(x) < 0:
        raise TypeError('negative')
    return sum(v * v for v in x) + 1.0
