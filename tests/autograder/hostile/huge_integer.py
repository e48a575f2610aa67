"""Returns an integer of a million bits."""
# ends: refused
# levels: best none
def answer(x):
    return 1 << 1_000_000
