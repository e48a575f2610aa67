"""Returns bytes."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
def answer(x):
    return b'6.0'
