"""Makes its own source at run time."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
exec('def answer(x):\n    assert x\n    if min(x) < 0: raise ValueError\n    return sum(v * v for v in x) + 1.0')
