"""Turns its objects into another class after the first call."""
# item: calls
# earns: 0
# ends: value
# needs: nothing
class Zero:
    total = 0

    def add(self, amount):
        return 0


class Tally:
    def __init__(self, start=0):
        self.total = start

    def add(self, amount):
        if amount < 0:
            raise ValueError("amount must be >= 0")
        self.total += amount
        self.__class__ = Zero
        return self.total
