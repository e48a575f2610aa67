"""Returns a complex number without an imaginary part."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
def answer(x):
    return complex(sum(v * v for v in x) + 1.0)
