"""Annotates with names that do not exist, under the future rule."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
from __future__ import annotations


def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0


def answer(x: NoSuchType) -> Another[Thing]:
    return right(x)
