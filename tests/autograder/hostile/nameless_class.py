"""Returns an object whose type cannot say its name."""
# ends: refused raised died
# levels: best none
class Meta(type):
    @property
    def __name__(cls):
        raise KeyError("no name")


class Nameless(metaclass=Meta):
    pass


def answer(x):
    return Nameless()
