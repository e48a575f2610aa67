"""Is right, with slots and properties."""
# item: calls
# earns: 4
# ends: value
# needs: nothing
class Tally:
    __slots__ = ('_total',)

    def __init__(self, start=0):
        self._total = start

    @property
    def total(self):
        return self._total

    def add(self, amount):
        if amount < 0:
            raise ValueError
        self._total = self._total + amount
        return self._total
