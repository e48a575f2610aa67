"""Returns an object whose type cannot say its name."""
# item: call
# earns: 0
# ends: refused raised died
# needs: nothing
class Meta(type):
    @property
    def __name__(cls):
        raise KeyError("no name")


class Nameless(metaclass=Meta):
    pass


def answer(x):
    return Nameless()
