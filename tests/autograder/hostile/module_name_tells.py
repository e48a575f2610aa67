"""Raises exceptions whose module and arguments are its input."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    error = type("ValueError", (ValueError,), {"__module__": str(x), "__str__": lambda self: str(x)})
    raise error(x) from KeyError(x)
