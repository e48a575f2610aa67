"""Empties the lists that it is given."""
# item: call
# earns: 0
# ends: value raised
# needs: nothing
def answer(x):
    x.clear()
    return 0.0
