"""Prints its answer and returns nothing."""
# ends: value
# levels: best none
def answer(x):
    print(1.0)
