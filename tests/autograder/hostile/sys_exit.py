"""Leaves through sys.exit with a status of success."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
import sys


def answer(x):
    sys.exit(0)
