"""Returns exact decimals."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
from decimal import Decimal


def answer(x):
    return sum((Decimal(v) ** 2 for v in x), Decimal(1))
