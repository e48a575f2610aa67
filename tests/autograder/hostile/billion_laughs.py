"""Returns a small object that is huge when written down."""
# ends: refused timeout
# levels: best none
def answer(x):
    value = ["ha"] * 10
    for _ in range(20):
        value = [value] * 10
    return value
