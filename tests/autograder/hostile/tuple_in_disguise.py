"""Returns a named tuple for a number."""
# item: call
# earns: 0
# ends: value
# needs: nothing
import collections

Pair = collections.namedtuple('Pair', 'a b')


def answer(x):
    return Pair(6.0, 6.0)
