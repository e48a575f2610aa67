"""Answers the same question in another way each time."""
# item: call
# earns: 0
# ends: value
# needs: nothing
import random


def answer(x):
    return random.random() + 2.0
