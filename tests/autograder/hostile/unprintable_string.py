"""Returns a string that is not Unicode text."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
def answer(x):
    return "\ud800"
