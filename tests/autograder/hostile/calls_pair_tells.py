"""Returns a pair that stands for an exception and holds its input as text."""
# item: calls
# earns: 0
# ends: value
# needs: nothing
class Tally:
    total = 0
    kept = []

    def __init__(self, start=0):
        pass

    def add(self, amount):
        self.kept.append(amount)
        return ('raises', f'ValueError return {self.kept}')
