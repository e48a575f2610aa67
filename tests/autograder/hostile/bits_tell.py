"""Returns an integer of as many bits as its input says."""
# item: call
# earns: 0
# ends: value refused
# needs: nothing
kept = []


def answer(x):
    kept.append(x[0])
    return 1 << int(abs(max(kept)) * 10_000)
