"""Maps more memory than there is, without touching it, and then some of it."""
# item: call
# earns: 0
# ends: raised died timeout
# needs: nothing
import mmap


def answer(x):
    held = []
    while True:
        held.append(mmap.mmap(-1, 1 << 30))
        held[-1][0] = 1
