"""Returns a string of a hundred megabytes."""
# ends: refused raised timeout
# levels: best none
def answer(x):
    return "x" * 100_000_000
