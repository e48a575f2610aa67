"""Returns a list of a million numbers."""
# item: call
# earns: 0
# ends: refused timeout
# needs: nothing
def answer(x):
    return [1.0] * 1_000_000
