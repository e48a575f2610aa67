"""Answers every name with a function."""
# item: calls
# earns: 0
# ends: value refused
# needs: nothing
class Tally:
    def __init__(self, start=0):
        pass

    def __getattr__(self, name):
        return lambda *arguments: 0
