"""Deletes the builtins that everybody needs."""
# item: call
# earns: 0
# ends: value raised died timeout
# needs: nothing
import builtins


def answer(x):
    for name in ('__import__', '__build_class__', 'type', 'getattr', 'len', 'str', 'open'):
        delattr(builtins, name)
    return 6.0
