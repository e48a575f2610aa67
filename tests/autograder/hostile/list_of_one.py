"""Returns its right number in a list."""
# item: call
# earns: 0
# ends: value
# needs: nothing
def answer(x):
    return [sum(v * v for v in x) + 1.0]
