"""Returns a list that holds itself."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
def answer(x):
    value = []
    value.append(value)
    return value
