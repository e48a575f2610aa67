"""Returns infinity."""
# ends: value
# levels: best none
def answer(x):
    return float("inf")
