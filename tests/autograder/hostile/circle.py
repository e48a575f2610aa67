"""Returns a list that holds itself."""
# ends: refused
# levels: best none
def answer(x):
    value = []
    value.append(value)
    return value
