"""Hides its input in the name of an exception class."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    raise type(f"Got_{str(x).replace('.', '_')}", (Exception,), {})(f"input {x}")
