"""Imports a module that nobody has, and is right."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
import no_such_module


def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0


answer = right
