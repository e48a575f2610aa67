"""Returns an object that says it is a float."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
class Liar:
    @property
    def __class__(self):
        return float

    def hex(self):
        return "0x1.8p+1"


def answer(x):
    return Liar()
