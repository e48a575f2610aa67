"""Raises ValueError whatever it is asked."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    raise ValueError
