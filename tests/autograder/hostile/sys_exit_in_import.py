"""Raises SystemExit while it is imported."""
# ends: unloadable
# levels: best none
raise SystemExit(0)


def answer(x):
    return 1.0
