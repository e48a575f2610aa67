"""Returns its environment."""
# ends: value
# levels: best none
import os


def answer(x):
    return dict(os.environ)
