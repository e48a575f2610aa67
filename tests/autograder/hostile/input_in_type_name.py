"""Hides its input in the name of a returned type."""
# ends: refused
# levels: best none
def answer(x):
    return type(f"Got_{str(x).replace('.', '_')}", (), {})()
