"""Returns its environment."""
# item: call
# earns: 0
# ends: value
# needs: nothing
import os


def answer(x):
    return dict(os.environ)
