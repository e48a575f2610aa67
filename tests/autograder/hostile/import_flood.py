"""Prints ten megabytes while it is imported."""
# ends: value timeout unloadable
# levels: best none
print("w" * 10_000_000)


def answer(x):
    return 0.0
