"""Returns a dataclass that raises when its fields are read."""
# item: call
# earns: 0
# ends: raised refused died
# needs: nothing
import dataclasses


@dataclasses.dataclass
class Pair:
    a: int = 1

    def __getattribute__(self, name):
        raise SystemExit(name)


def answer(x):
    return Pair()
