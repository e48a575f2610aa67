"""Returns its right number as a string."""
# item: call
# earns: 0
# ends: value
# needs: nothing
def answer(x):
    return str(sum(v * v for v in x) + 1.0)
