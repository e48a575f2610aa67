"""Prints ten megabytes while it is imported."""
# item: call
# earns: 0
# ends: value timeout unloadable
# needs: nothing
print("w" * 10_000_000)


def answer(x):
    return 0.0
