"""Raises exceptions whose class is named after its input."""
# item: calls
# earns: 0
# ends: value
# needs: nothing
class Tally:
    total = 0

    def __init__(self, start=0):
        pass

    def add(self, amount):
        raise type(f'Got_{amount}_return', (Exception,), {})(amount)
