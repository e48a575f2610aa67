"""Hides its input in the name of a returned type."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
def answer(x):
    return type(f"Got_{str(x).replace('.', '_')}", (), {})()
