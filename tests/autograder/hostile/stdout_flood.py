"""Prints without an end."""
# item: call
# earns: 0
# ends: timeout
# needs: nothing
def answer(x):
    while True:
        print("x" * 100_000)
