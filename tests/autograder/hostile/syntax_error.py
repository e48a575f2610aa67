"""Is not Python."""
# ends: unloadable
# levels: best none
def answer(x)
    return 1.0
