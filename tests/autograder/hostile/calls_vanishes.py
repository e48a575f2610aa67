"""Deletes itself from its module once it has been used."""
# item: calls
# earns: 0
# ends: value missing
# needs: nothing
class Tally:
    def __init__(self, start=0):
        self.total = start
        globals().pop('Tally', None)

    def add(self, amount):
        if amount < 0:
            raise ValueError("amount must be >= 0")
        self.total += amount
        return self.total
