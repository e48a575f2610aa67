"""Takes all memory it can get."""
# item: call
# earns: 0
# ends: raised died timeout
# needs: nothing
def answer(x):
    held = []
    while True:
        held.append(bytearray(64 << 20))
