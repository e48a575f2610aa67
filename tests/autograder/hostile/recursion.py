"""Recurses without an end."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    return answer(x)
