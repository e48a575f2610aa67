"""Is right where nothing has to be refused."""
# item: call
# earns: 2.5
# ends: value
# needs: nothing
def answer(x):
    return sum(value * value for value in x) + 1.0
