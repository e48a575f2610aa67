"""Yields in a method."""
# item: calls
# earns: 0
# ends: refused
# needs: nothing
class Tally:
    def __init__(self, start=0):
        self.total = start

    def add(self, amount):
        if amount < 0:
            raise ValueError("amount must be >= 0")
        self.total += amount
        yield self.total
