"""Returns an integer of a million bits."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
def answer(x):
    return 1 << 1_000_000
