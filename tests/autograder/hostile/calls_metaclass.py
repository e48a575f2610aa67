"""Answers through a metaclass that runs code for every name."""
# item: calls
# earns: 0
# ends: raised value died
# needs: nothing
class Meta(type):
    def __call__(cls, *arguments):
        return cls

    def __getattribute__(cls, name):
        raise SystemExit(name)


class Tally(metaclass=Meta):
    pass
