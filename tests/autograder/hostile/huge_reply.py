"""Returns a list of a million numbers."""
# ends: refused timeout
# levels: best none
def answer(x):
    return [1.0] * 1_000_000
