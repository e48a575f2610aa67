"""Hides its input in the name of an exception class."""
# ends: raised
# levels: best none
def answer(x):
    raise type(f"Got_{str(x).replace('.', '_')}", (Exception,), {})(f"input {x}")
