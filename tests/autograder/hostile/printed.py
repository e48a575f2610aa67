"""Prints its answer and returns nothing."""
# item: call
# earns: 0
# ends: value
# needs: nothing
def answer(x):
    print(1.0)
