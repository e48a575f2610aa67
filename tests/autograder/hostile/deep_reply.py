"""Returns a list nested ten thousand levels deep."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
def answer(x):
    value = []
    for _ in range(10_000):
        value = [value]
    return value
