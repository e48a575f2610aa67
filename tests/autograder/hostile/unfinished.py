"""Is the stub as it was handed out."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    raise NotImplementedError("03-answer: write me")
