"""Returns infinity."""
# item: call
# earns: 0
# ends: value
# needs: nothing
def answer(x):
    return float("inf")
