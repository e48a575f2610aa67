"""Uses a module that it never imported."""
# ends: raised
# levels: best none
def answer(x):
    return math.sqrt(2)
