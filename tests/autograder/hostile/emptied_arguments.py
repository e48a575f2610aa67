"""Empties the lists that it is given."""
# ends: value raised
# levels: best none
def answer(x):
    x.clear()
    return 0.0
