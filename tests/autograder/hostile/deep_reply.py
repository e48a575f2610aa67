"""Returns a list nested ten thousand levels deep."""
# ends: refused
# levels: best none
def answer(x):
    value = []
    for _ in range(10_000):
        value = [value]
    return value
