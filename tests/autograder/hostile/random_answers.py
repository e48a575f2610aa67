"""Answers the same question in another way each time."""
# ends: value
# levels: best none
import random


def answer(x):
    return random.random() + 2.0
