"""A right program that answers with members of an enumeration of integers."""
# item: calls
# earns: 4
# ends: value
# needs: nothing
import enum


class Sum(enum.IntFlag):
    NONE = 0


class Tally:
    def __init__(self, start=0):
        self.total = Sum(start)

    def add(self, amount):
        if amount < 0:
            raise ValueError("amount must be >= 0")
        self.total = Sum(int(self.total) + amount)
        return self.total
