"""Raises SystemExit while it is imported."""
# item: call
# earns: 0
# ends: unloadable
# needs: nothing
raise SystemExit(0)


def answer(x):
    return 1.0
