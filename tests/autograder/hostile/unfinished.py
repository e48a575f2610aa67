"""Is the stub as it was handed out."""
# ends: raised
# levels: best none
def answer(x):
    raise NotImplementedError("03-answer: write me")
