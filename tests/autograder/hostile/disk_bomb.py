"""Writes until a file may not grow any more."""
# item: call
# earns: 0
# ends: raised died timeout
# needs: nothing
def answer(x):
    with open("big", "wb") as file:
        for _ in range(1024):
            file.write(bytes(1 << 20))
            file.flush()
    return 1.0
