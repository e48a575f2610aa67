"""Takes all memory it can get."""
# ends: raised died timeout
# levels: best none
def answer(x):
    held = []
    while True:
        held.append(bytearray(64 << 20))
