"""Recurses without an end."""
# ends: raised
# levels: best none
def answer(x):
    return answer(x)
