"""Prints without an end."""
# ends: timeout
# levels: best none
def answer(x):
    while True:
        print("x" * 100_000)
