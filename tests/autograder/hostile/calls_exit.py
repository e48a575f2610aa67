"""Leaves in a method."""
# item: calls
# earns: 0
# ends: raised
# needs: nothing
import sys


class Tally:
    total = 0

    def __init__(self, start=0):
        pass

    def add(self, amount):
        sys.exit(0)
