"""Keeps its total in the class, where every object finds it."""
# item: calls
# earns: 0
# ends: value
# needs: nothing
class Tally:
    total = 0

    def __init__(self, start=0):
        Tally.total = start

    def add(self, amount):
        if amount < 0:
            raise ValueError
        Tally.total += amount
        return Tally.total
