"""Returns a value of its own class, which is also called float."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
class float(float):
    pass


def answer(x):
    return float(6.0)
