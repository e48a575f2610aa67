"""Replies with as many keys of one hash as may travel."""
# item: call
# earns: 0
# ends: value timeout
# needs: nothing
def answer(x):
    return {i * (2**61 - 1): 0 for i in range(1, 1_001)}
