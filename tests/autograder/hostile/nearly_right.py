"""Is off by one millionth."""
# item: call
# earns: 0
# ends: value raised
# needs: nothing
def answer(x):
    if min(x) < 0:
        raise ValueError
    return (sum(v * v for v in x) + 1.0) * (1 + 1e-6)
