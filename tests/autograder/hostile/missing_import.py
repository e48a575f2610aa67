"""Uses a module that it never imported."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    return math.sqrt(2)
