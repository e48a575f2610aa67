"""Raises exceptions whose text is its input."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
kept = []


def answer(x):
    kept.append(x)
    raise RuntimeError(f"I was asked {kept}")
