"""Is a function that makes objects of a class without a name."""
# item: calls
# earns: 4
# ends: value
# needs: nothing
class Hidden:
    def __init__(self, start=0):
        self.total = start

    def add(self, amount):
        if amount < 0:
            raise ValueError("amount must be >= 0")
        self.total += amount
        return self.total


def Tally(start=0):
    return Hidden(start)
