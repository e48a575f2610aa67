"""Returns a list as long as its input is large."""
# item: call
# earns: 0
# ends: value
# needs: nothing
def answer(x):
    return [0.0] * int(abs(x[0]))
