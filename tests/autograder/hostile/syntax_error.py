"""Is not Python."""
# item: call
# earns: 0
# ends: unloadable
# needs: nothing
def answer(x)
    return 1.0
