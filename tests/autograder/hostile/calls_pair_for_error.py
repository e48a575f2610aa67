"""Returns the pair that stands for an exception on the wire: it earns what it knows."""
# item: calls
# earns: 4
# ends: value
# needs: nothing
class Tally:
    def __init__(self, start=0):
        self.total = start

    def add(self, amount):
        if amount < 0:
            return ("raises", "ValueError")
        self.total += amount
        return self.total
