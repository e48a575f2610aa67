"""Is right at first and wrong after a few calls."""
# item: call
# earns: 0
# ends: value
# needs: nothing
calls = []


def answer(x):
    calls.append(x)
    return 0.0 if len(calls) < 3 else 1.0
