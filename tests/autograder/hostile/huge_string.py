"""Returns a string of a hundred megabytes."""
# item: call
# earns: 0
# ends: refused raised timeout
# needs: nothing
def answer(x):
    return "x" * 100_000_000
