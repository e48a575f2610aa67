"""Has an attribute that changes whenever it is read."""
# item: calls
# earns: 4
# ends: value
# needs: nothing
class Tally:
    def __init__(self, start=0):
        self.sum = start

    def add(self, amount):
        if amount < 0:
            raise ValueError("amount must be >= 0")
        self.sum += amount
        return self.sum

    @property
    def total(self):
        self.sum += 1
        return self.sum - 1
