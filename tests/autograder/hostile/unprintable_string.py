"""Returns a string that is not Unicode text."""
# ends: refused
# levels: best none
def answer(x):
    return "\ud800"
